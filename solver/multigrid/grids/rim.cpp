#include "solver/multigrid/grids/rim.h"

#include "spmv/grid/shares.h"

namespace weft::solver {

std::vector<RimPart> make_rim(const spmv::GridBox& own, int depth, const spmv::GridBox& grid) {
  std::vector<RimPart> rim;
  for (const spmv::GridBox& box : spmv::shell(spmv::grown(own, depth, grid), own))
    if (!box.is_empty()) rim.emplace_back(box);
  return rim;
}

}  // namespace weft::solver
