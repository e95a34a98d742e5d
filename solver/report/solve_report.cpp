#include "solver/report/solve_report.h"

namespace weft::solver {

const char* name(SolveStatus status) {
  switch (status) {
    case SolveStatus::converged:
      return "converged";
    case SolveStatus::not_converged:
      return "not-converged";
    case SolveStatus::stopped:
      return "stopped";
    case SolveStatus::diverged:
      return "diverged";
    case SolveStatus::out_of_time:
      return "out-of-time";
    case SolveStatus::breakdown:
      break;
  }
  return "breakdown";
}

}  // namespace weft::solver
