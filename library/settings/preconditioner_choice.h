#pragma once

#include <functional>
#include <memory>
#include <string>

#include "library/options/solve_settings.h"
#include "solver/precondition/preconditioner.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/problems/problem.h"

namespace weft::library {

/// A preconditioner, and what it is where somebody reports on it.
struct MadePreconditioner {
  std::unique_ptr<solver::Preconditioner> object;  // null: none
  const solver::SchwarzPreconditioner* schwarz = nullptr;  // the same, where it is that
  std::string found{};  // what amg has found in the matrix, a sentence; empty: nothing
};

/// Makes the preconditioner that `settings` ask for, the cycle that multigrid as a method needs for
/// an operator that is no spmv::StencilOperator, or the one that `auto` may choose.
/// `problem`: the operator's, for its grid; a file where nothing is known. `on_forecast`: of
/// Schwarz and block factors, as in SchwarzOptions. `constant`: what takes the place of the
/// constant vector in `amg`, where it does; else empty. Shape: [element_count] or [0]. Collective.
/// Thread: the main thread, outside the team. Throws comm_thread::InputError on every rank.
/// Lifetime: `op` outlives it.
MadePreconditioner collective_make_preconditioner(spmv::LinearOperator& op,
                                                  const SolveSettings& settings,
                                                  const spmv::Problem& problem,
                                                  std::function<void(double)> on_forecast = {},
                                                  std::vector<double> constant = {});

}  // namespace weft::library
