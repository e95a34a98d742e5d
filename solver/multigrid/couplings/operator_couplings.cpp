#include "solver/multigrid/couplings/operator_couplings.h"

namespace weft::solver {

CouplingView operator_couplings(const spmv::DiffusionOperator& op) {
  return {.points = op.layout().own(),
          .grid = op.partition().domain(),
          .layout = op.layout(),
          .before = {op.couplings(0), op.couplings(1), op.couplings(2)},
          .excess = nullptr,
          .factor = 1};
}

}  // namespace weft::solver
