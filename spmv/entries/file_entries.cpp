#include "spmv/entries/file_entries.h"

#include <cstdint>

#include "comm_thread/mpi/input_error.h"
#include "spmv/entries/explicit_zeros.h"
#include "spmv/entries/mirrored_matrix.h"
#include "spmv/entries/petsc_info.h"
#include "spmv/formats/matrix_file.h"

namespace weft::spmv {

std::string collective_settle_entries(const comm_thread::Communicator& communicator,
                                      const comm_thread::ComputeTeam& team, const std::string& path,
                                      Triangle triangle, bool keeps_zeros,
                                      DistributedMatrix& matrix, Remarks& remarks) {
  DiagonalSides sides;
  if (triangle != Triangle::as_is) {
    const bool may_have_info = format_of(path) == FileFormat::petsc;
    sides = collective_find_sides(
        communicator, team, matrix,
        may_have_info ? collective_petsc_block_size(communicator, path) : GlobalIndex{0});
  }
  const std::int64_t entries = matrix.global_nonzero_count;
  const std::int64_t zeros = keeps_zeros && triangle != Triangle::mirrored
                                 ? 0
                                 : collective_count_zeros(communicator, team, matrix);
  if (triangle == Triangle::mirrored) {
    if (sides.has_below && sides.has_above)
      remarks.push_back(path + ": both triangles are there already; nothing is mirrored");
    try {
      matrix = collective_mirror(communicator, team, matrix, sides);
    } catch (const comm_thread::InputError& error) {
      throw comm_thread::InputError(path + ": " + error.what());
    }
  } else if (zeros > 0) {
    collective_drop_zeros(communicator, team, matrix);
  }
  if (zeros > 0) {
    drop_unused_halo(matrix);
    remarks.push_back(path + ": " + text_of_zeros(zeros, entries));
  }
  return sides.is_one_sided() && triangle == Triangle::unsaid ? path + ": " + sides.text() : "";
}

}  // namespace weft::spmv
