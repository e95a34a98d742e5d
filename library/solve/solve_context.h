#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "library/options/solve_settings.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/index.h"

namespace weft::library {

/// The number of a row as it was given, from its number in the operator. Collective.
using CollectiveGivenRow = std::function<spmv::GlobalIndex(spmv::GlobalIndex row)>;

/// What a solver is told about a linear system besides its operator.
struct SystemContext {
  std::string name{};  // begins messages; empty: none
  spmv::Problem problem{};  // the operator's, for its grid; a file where nothing is known
  /// This rank's part of a vector from a file, in the layout of the operator; null: there are no
  /// files. Collective. Throws comm_thread::InputError.
  std::function<std::vector<double>(const std::string& path)> collective_read{};
  CollectiveGivenRow collective_given_row{};  // null: rows are numbered as given
  /// Makes the preconditioner of a caller, in the place of that of the settings. Collective.
  std::function<std::unique_ptr<solver::Preconditioner>()> collective_make_preconditioner{};
};

/// Called at stages of a solve, by the main thread where nothing else is said. Each may be null.
struct SolveHooks {
  /// Before the preconditioner and the method of `settings` are made.
  std::function<void(const SolveSettings& settings)> on_set_up{};
  std::function<void(double bytes)> on_forecast{};  // as in SchwarzOptions; may throw InputError
  std::function<void()> on_start{};  // before a method iterates
  /// As in KrylovMethod::Options, by the primary thread.
  std::function<void(std::int64_t iteration, double residual)> on_iteration{};
  std::function<bool(std::int64_t iteration, double residual)> stops{};
  /// As in KrylovMethod::Options. Of the ways that may be tried, the one that a checkpoint is of
  /// continues from it.
  solver::Checkpoints* checkpoints = nullptr;
};

/// As KrylovMethod::Options::on_iteration, for one of several right-hand sides.
using OnVectorIteration =
    std::function<void(std::size_t vector, std::int64_t iteration, double residual)>;

}  // namespace weft::library
