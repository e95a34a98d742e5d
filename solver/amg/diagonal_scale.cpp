#include "solver/amg/diagonal_scale.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/amg/coarsening/page_allocator.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::solver::amg {

using comm_thread::TeamThread;
using spmv::LocalIndex;

void collective_scale(Crew& crew, const LevelMatrix& level, const std::vector<double>& least,
                      RowValues<double>& scale) {
  const bool is_finest = least.empty();
  const spmv::CrsMatrix& rows = level.matrix.rows;
  PageVector<double> diagonal(static_cast<std::size_t>(rows.row_count));
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    for (LocalIndex row = level.thread_rows[index]; row < level.thread_rows[index + 1]; ++row) {
      const auto i = static_cast<std::size_t>(row);
      diagonal[i] = 0;
      for (auto k = static_cast<std::size_t>(rows.row_offsets[i]);
           k < static_cast<std::size_t>(rows.row_offsets[i + 1]); ++k)
        if (rows.columns[k] == row) diagonal[i] = rows.values[k];
      scale[i] = diagonal[i] > (is_finest ? 0 : least[i]) ? 1 / std::sqrt(diagonal[i]) : 0;
    }
  });
  comm_thread::collective_attempt(crew.communicator(), [&] {
    const auto bad = std::ranges::find_if(diagonal, [](double d) { return !(d > 0); });
    if (is_finest && bad != diagonal.end())
      throw comm_thread::InputError(fmt::format(
          "row {} has {:g} on the diagonal; expected a positive number, because amg is for "
          "symmetric positive definite matrices",
          level.matrix.first_row() + (bad - diagonal.begin()) + 1, *bad));
  });
  crew.team().run([&](const TeamThread& thread) { scale.collective_renew(thread); });
}

}  // namespace weft::solver::amg
