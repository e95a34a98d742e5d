#include "solver/multigrid/couplings/operator_couplings.h"

#include <array>
#include <cstddef>

#include "solver/multigrid/couplings/row_excess.h"
#include "spmv/grid/shares.h"

namespace weft::solver {

using spmv::GlobalIndex;
using spmv::GridBox;

GridCouplings operator_couplings(const spmv::DiffusionOperator& op) {
  const GridBox& own = op.layout().own();
  const GridBox domain = op.partition().domain();
  GridCouplings couplings(own);
  op.team().run([&](const comm_thread::TeamThread& thread) {
    for (const GridBox& box : spmv::share_of_rows(own, thread.index, thread.count))
      for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
        for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
          std::size_t from = op.layout().index(box.begin[0], y, z);
          std::size_t to = couplings.layout().index(box.begin[0], y, z);
          for (GlobalIndex x = box.begin[0]; x < box.end[0]; ++x, ++from, ++to) {
            const std::array<GlobalIndex, 3> at{x, y, z};
            const double diagonal = op.diagonal(from);
            double sum = diagonal;
            for (std::size_t d = 0; d < 3; ++d) {
              const double* const values = op.couplings(d) + from;
              // Those with the boundary are part of the row's sum.
              const double before = at[d] > 0 ? values[0] : 0;
              const double after = at[d] + 1 < domain.end[d] ? values[op.stride(d)] : 0;
              couplings.before(d)[to] = before;
              sum -= before + after;
            }
            couplings.excess()[to] = without_rounding(sum, diagonal);
          }
        }
  });
  return couplings;
}

}  // namespace weft::solver
