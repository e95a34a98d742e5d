#include "library/solve/vectors_in_range.h"

#include <cmath>

#include "library/solve/value_range.h"
#include "solver/report/stop_rule.h"
#include "spmv/modes/linear_operator.h"

namespace weft::library {

using solver::SolveReport;
using solver::SolveStatus;

VectorsInRange::VectorsInRange(const SolvableSystem& system, std::span<const double> b,
                               const solver::Guess& guess, const solver::StopCriterion& stop)
    : system_(system), stop_(stop) {
  const ValueRange range = collective_range_of(system.op(), b);
  b_exponent_ = range.exponent;
  x_exponent_ = range.exponent - system.exponent();
  largest_ = std::ldexp(range.largest, range.exponent);
  unmendable_ = collective_find_unmendable(guess);
  stop_.absolute_tolerance = std::ldexp(stop.absolute_tolerance, b_exponent_);
  if (guess) guess_ = scaled(*guess, x_exponent_, guess_room_);
  b_ = scaled(b, b_exponent_, b_room_);
}

std::string VectorsInRange::collective_find_unmendable(const solver::Guess& guess) const {
  if (!system_.is_finite()) return "the matrix has a value that is not finite; expected numbers";
  if (!std::isfinite(largest_)) return "b has a value that is not finite; expected numbers";
  if (guess && !std::isfinite(collective_range_of(system_.op(), *guess).largest))
    return "the initial guess has a value that is not finite; expected numbers";
  return {};
}

/// 2^exponent·vector, in `room` where it is another.
std::span<const double> VectorsInRange::scaled(std::span<const double> vector, int exponent,
                                               Array& room) const {
  if (exponent == 0) return vector;
  room = Array(system_.op().element_count());
  library::scale(system_.op(), exponent, vector, room.span());
  return room.span();
}

void VectorsInRange::collective_scale_back(std::span<const double> solved, std::span<double> x,
                                           SolveReport& report) const {
  if (report.status != SolveStatus::converged && !unmendable_.empty())
    report.explanation = unmendable_;
  if (x_exponent_ == 0) return;
  const spmv::LinearOperator& op = system_.op();
  const double lost = op.communicator().max(library::scale(op, -x_exponent_, solved, x));
  if (lost == 0) return;
  const auto rows = static_cast<double>(op.global_row_count());
  report.relative_residual += op.collective_norm() * lost * std::sqrt(rows) / largest_;
  const double norm = report.relative_residual * largest_;  // at most; so is ‖b‖ at least
  if (report.status != SolveStatus::converged ||
      norm <= solver::StopRule::allowed_drift * stop_.wanted_norm(largest_))
    return;
  report.status = SolveStatus::breakdown;
  report.explanation =
      std::isfinite(lost)
          ? "x has values below 2.2e-308, of which double holds few digits; scale the system"
          : "x has values above 1.8e308, which no double holds; scale the system";
}

}  // namespace weft::library
