#include "tests/fuzz/whole_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/mpi_session.h"
#include "comm_thread/placement/compute_team.h"
#include "comm_thread/waiting/team_barrier.h"
#include "solver/checkpoint/checkpoint_file.h"
#include "solver/checkpoint/packed_rows.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/rows/partition.h"
#include "spmv/rows/partition_by.h"
#include "tests/fuzz/named_file.h"

namespace weft::tests {
namespace {

using comm_thread::Communicator;

/// Rows without entries take memory, but no bytes of text; that there is enough is for the forecast
/// to say.
constexpr spmv::GlobalIndex most_rows = 1 << 16;

std::string ending_of(char letter) {
  switch (letter) {
    case 'm':
      return ".mtx";
    case 'g':
      return ".mtx.gz";
    case 'p':
      return ".petsc";
    case 's':
      return ".npz";
    case 'n':
      return ".npy";
    case 'h':
      return ".h5";
    case 't':
      return ".txt";
    case 'i':
      return ".sti";
    case 'b':
      return ".rua";
    case 'z':
      return ".rua.gz";
    case 'y':
      return ".00000";
    default:
      return ".checkpoint";
  }
}

void read_checkpoint(const Communicator& alone, const std::string& path) {
  const auto header = solver::collective_read_checkpoint_header(alone, path);
  const auto count = static_cast<std::size_t>(header.identity.row_count);
  const solver::PackedRows rows({{{0, 0, count}}}, header.identity.row_count);
  std::vector<double> values(header.vector_count * count);
  solver::collective_read_checkpoint(alone, path, header, rows, values);
}

void read_numbers(const Communicator& alone, const std::string& path) {
  const auto contents = spmv::collective_look_into(alone, path);
  if (!contents.is_matrix) {
    if (contents.row_count < 0 || contents.row_count > most_rows) return;
    const auto rows = spmv::RowPartition::by_rows(contents.row_count, 1);
    spmv::Remarks unread;
    const auto any = spmv::any_number_of_columns;
    spmv::collective_read_columns_file(alone, rows, path, any, unread);
    return;
  }
  const auto size = spmv::collective_matrix_file_size(alone, path);
  if (size.row_count > most_rows) return;
  const comm_thread::ComputeTeam team(1, comm_thread::WaitPolicy::yield);
  spmv::collective_read_matrix_file(alone, team, path, spmv::PartitionBy::nonzeros);
  // The vector that may stand behind the matrix.
  if (spmv::format_of(path) != spmv::FileFormat::harwell_boeing) return;
  spmv::Remarks unread;
  spmv::collective_read_vector_file(alone, spmv::RowPartition::by_rows(size.row_count, 1), path,
                                    unread);
}

}  // namespace

void read_whole_file(const std::string& bytes) {
  static const comm_thread::MpiSession session;
  static const Communicator alone = Communicator::self();
  static const NamedFile file;
  if (bytes.empty()) return;
  const std::string path = file.write(ending_of(bytes.front()), bytes.substr(1));
  if (spmv::format_of(path) == spmv::FileFormat::unknown)
    read_checkpoint(alone, path);
  else
    read_numbers(alone, path);
}

}  // namespace weft::tests
