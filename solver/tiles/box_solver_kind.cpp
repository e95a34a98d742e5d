#include "solver/tiles/box_solver_kind.h"

#include "solver/tiles/cholmod_box_solver.h"
#include "solver/tiles/tensor_box_solver.h"

namespace weft::solver {

std::string_view name(BoxSolverKind kind) {
  return kind == BoxSolverKind::cholmod ? "cholmod" : "tensor";
}

std::unique_ptr<BoxSolver> make_box_solver(BoxSolverKind kind, const RobinBox& box,
                                           int thread_count) {
  if (kind == BoxSolverKind::cholmod) return std::make_unique<CholmodBoxSolver>(box, thread_count);
  return std::make_unique<TensorBoxSolver>(box, thread_count);
}

}  // namespace weft::solver
