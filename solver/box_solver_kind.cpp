#include "solver/box_solver_kind.h"

#include "solver/cholmod_box_solver.h"

namespace weft::solver {

std::string_view name(BoxSolverKind) { return "cholmod"; }

std::unique_ptr<BoxSolver> make_box_solver(BoxSolverKind, const RobinBox& box, int thread_count) {
  return std::make_unique<CholmodBoxSolver>(box, thread_count);
}

}  // namespace weft::solver
