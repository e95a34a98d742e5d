#pragma once

#include <memory>
#include <string_view>

#include "solver/tiles/box_solver.h"
#include "solver/tiles/robin_box.h"

namespace weft::solver {

/// Solver of the tiles' systems.
enum class BoxSolverKind { cholmod, tensor };

/// `cholmod`, `tensor`.
std::string_view name(BoxSolverKind kind);

/// Throws comm_thread::InputError where the matrix is not positive definite to working precision.
std::unique_ptr<BoxSolver> make_box_solver(BoxSolverKind kind, const RobinBox& box,
                                           int thread_count);

}  // namespace weft::solver
