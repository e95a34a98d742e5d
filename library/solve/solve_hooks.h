#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "library/options/solve_settings.h"
#include "solver/checkpoint/checkpoints.h"

namespace weft::library {

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
