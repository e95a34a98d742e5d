#include "solver/amg/diagonal_scale.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::solver::amg {

using comm_thread::TeamThread;
using spmv::LocalIndex;

void collective_scale(const comm_thread::Crew& crew, const LevelMatrix& level,
                      const std::vector<double>& least, RowValues<double>& scale) {
  const bool is_finest = least.empty();
  const spmv::CrsMatrix& rows = level.matrix.rows;
  // The first row of each thread whose diagonal entry is not positive.
  struct Bad {
    LocalIndex row = -1;
    double diagonal = 0;
  };
  std::vector<Bad> bad(static_cast<std::size_t>(crew.team().thread_count()));
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    Bad found;
    for (LocalIndex row = level.thread_rows[index]; row < level.thread_rows[index + 1]; ++row) {
      const auto i = static_cast<std::size_t>(row);
      double diagonal = 0;
      for (auto k = static_cast<std::size_t>(rows.row_offsets[i]);
           k < static_cast<std::size_t>(rows.row_offsets[i + 1]); ++k)
        if (rows.columns[k] == row) diagonal = rows.values[k];
      if (!(diagonal > 0) && found.row < 0) found = {row, diagonal};
      scale[i] = diagonal > (is_finest ? 0 : least[i]) ? 1 / std::sqrt(diagonal) : 0;
    }
    bad[index] = found;
  });
  comm_thread::collective_attempt(crew.communicator(), [&] {
    const auto first = std::ranges::find_if(bad, [](const Bad& b) { return b.row >= 0; });
    if (is_finest && first != bad.end())
      throw comm_thread::InputError(fmt::format(
          "row {} has {:g} on the diagonal; expected a positive number, because amg is for "
          "symmetric positive definite matrices",
          level.matrix.first_row() + first->row + 1, first->diagonal));
  });
  crew.team().run([&](const TeamThread& thread) { scale.collective_renew(thread); });
}

}  // namespace weft::solver::amg
