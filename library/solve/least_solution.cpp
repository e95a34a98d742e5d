#include "library/solve/least_solution.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace weft::library {

using solver::SolveReport;
using solver::SolveStatus;

namespace {

/// The larger residual, where rows differ in scale.
double residual_of(const SolveReport& report) {
  return std::max(report.relative_residual, report.scaled_residual.value_or(0));
}

}  // namespace

void LeastSolution::offer(std::span<const double> x, const SolveReport& report,
                          const std::string& way) {
  const double residual = residual_of(report);
  const bool is_less = !is_kept() || residual < residual_of(report_);
  if (!std::isfinite(residual) || !is_less) return;
  x_.assign(x.begin(), x.end());
  report_ = report;
  way_ = way;
}

std::string LeastSolution::take_place_in(SolveReport& report) {
  if (!is_kept()) return {};
  if (report.status == SolveStatus::converged || residual_of(report) <= residual_of(report_)) {
    clear();
    return {};
  }
  report.recurrence_residual = report_.recurrence_residual;
  report.relative_residual = report_.relative_residual;
  report.scaled_residual = report_.scaled_residual;
  // What has ended all ways is said of the last one.
  if (report.status == SolveStatus::not_converged || report.status == SolveStatus::breakdown) {
    report.status = report_.status;
    report.explanation = report_.explanation;
  }
  return fmt::format("the solution of {} is kept: its residual of {:.1e} is the least", way_,
                     residual_of(report_));
}

}  // namespace weft::library
