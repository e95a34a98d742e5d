#include "library/solve/least_solution.h"

#include <cmath>

#include <fmt/format.h>

namespace weft::library {

using solver::SolveReport;

void LeastSolution::offer(std::span<const double> x, const SolveReport& report,
                          const std::string& way) {
  const bool is_less = !is_kept() || report.relative_residual < relative_residual_;
  if (!std::isfinite(report.relative_residual) || !is_less) return;
  x_.assign(x.begin(), x.end());
  recurrence_residual_ = report.recurrence_residual;
  relative_residual_ = report.relative_residual;
  way_ = way;
}

std::string LeastSolution::take_place_in(SolveReport& report) {
  if (!is_kept()) return {};
  if (report.status == solver::SolveStatus::converged ||
      report.relative_residual <= relative_residual_) {
    clear();
    return {};
  }
  report.recurrence_residual = recurrence_residual_;
  report.relative_residual = relative_residual_;
  return fmt::format("the solution of {} is kept: its residual of {:.1e} is the least", way_,
                     relative_residual_);
}

}  // namespace weft::library
