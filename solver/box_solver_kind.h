#pragma once

#include <memory>
#include <string_view>

#include "solver/box_solver.h"
#include "solver/robin_box.h"

namespace weft::solver {

/// How the system of a subdomain is solved.
enum class BoxSolverKind { cholmod };

/// `cholmod`.
std::string_view name(BoxSolverKind kind);

/// Throws comm_thread::InputError where the matrix is not positive definite.
std::unique_ptr<BoxSolver> make_box_solver(BoxSolverKind kind, const RobinBox& box,
                                           int thread_count);

}  // namespace weft::solver
