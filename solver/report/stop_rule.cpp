#include "solver/report/stop_rule.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace weft::solver {
namespace {

constexpr const char* not_finite =
    "the residual is not finite: values left the range of double, or of single precision in the "
    "preconditioner; scale the system";

}  // namespace

bool StopRule::is_out_of_range() const {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  const double least = std::max(wanted_norm(), epsilon * first_norm_);
  return first_norm_ > 0 && least * least < std::numeric_limits<double>::min() / epsilon;
}

SolveStatus StopRule::status_at(double norm) const {
  if (is_met(norm)) return SolveStatus::converged;
  if (norm > criterion_.divergence * first_norm_) return SolveStatus::diverged;
  return std::isfinite(norm) ? SolveStatus::not_converged : SolveStatus::breakdown;
}

SolveReport StopRule::start(double bound) const {
  SolveReport report;
  report.recurrence_residual = first_norm_ == 0 && bound == 0 ? 0 : 1;
  if (!std::isfinite(first_norm_ * first_norm_) || (first_norm_ == 0 && bound > 0) ||
      is_out_of_range()) {
    report.status = SolveStatus::breakdown;
    report.explanation = out_of_range;
  } else if (is_met(first_norm_)) {
    report.status = SolveStatus::converged;
  }
  return report;
}

void StopRule::note(double norm, SolveReport& report) const {
  report.recurrence_residual = relative(norm);
  const SolveStatus status = status_at(norm);
  if (status == SolveStatus::not_converged) return;
  report.status = status;
  if (status == SolveStatus::breakdown) report.explanation = not_finite;
}

bool StopRule::must_begin_again(double norm, SolveReport& report) const {
  report.relative_residual = relative(norm);
  // Where no double holds the square of b's norm, x is 0 still.
  if (report.status == SolveStatus::breakdown && !(first_norm_ > 0 && std::isfinite(first_norm_)))
    report.relative_residual = 1;
  if (report.status == SolveStatus::not_converged && report.relative_residual > 1)
    report.explanation = fmt::format(
        "the residual rose to {:.3g} of the first: the matrix may be singular or indefinite",
        report.relative_residual);
  if (report.status != SolveStatus::converged || norm <= allowed_drift * wanted_norm())
    return false;
  report.status = SolveStatus::not_converged;
  if (!(norm < least_gain * report.verified_norm)) {
    report.explanation = fmt::format(
        "the residual stopped falling at {:.3g} of the first, where its recurrence says {:.3g}: "
        "the matrix may be singular, or so ill-conditioned that rounding allows no more",
        report.relative_residual, report.recurrence_residual);
    return false;
  }
  if (report.iterations >= criterion_.max_iterations) return false;
  report.verified_norm = norm;
  ++report.restarts;
  return true;
}

}  // namespace weft::solver
