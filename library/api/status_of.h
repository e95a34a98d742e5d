#pragma once

#include "library/include/weft/weft.hpp"
#include "solver/report/solve_report.h"

namespace weft {
inline namespace v0 {

/// The status of a report in the public words. Thread: any.
inline Status status_of(solver::SolveStatus status) {
  switch (status) {
    case solver::SolveStatus::converged:
      return Status::converged;
    case solver::SolveStatus::not_converged:
      return Status::not_converged;
    case solver::SolveStatus::stopped:
      return Status::stopped;
    case solver::SolveStatus::diverged:
      return Status::diverged;
    case solver::SolveStatus::out_of_time:
      return Status::out_of_time;
    case solver::SolveStatus::breakdown:
      break;
  }
  return Status::breakdown;
}

}  // namespace v0
}  // namespace weft
