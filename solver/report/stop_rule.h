#pragma once

#include "solver/report/solve_report.h"
#include "solver/report/stop_criterion.h"

namespace weft::solver {

/// When one solve ends: a criterion, and the norm that residuals are compared with.
///
///     start ──► iteration: `note` ──► … ──► true residual: `must_begin_again` ──► end
///                   ▲                                   │ only the recurrence converged
///                   └───────────────────────────────────┘
///
/// It computes with numbers that all threads of all ranks have alike, so that all decide the same.
class StopRule {
 public:
  /// Factor by which the true residual may exceed the tolerance in a converged solve: recurrence
  /// and true residual differ by rounding, and a restart for less would cost more than it gains.
  static constexpr double allowed_drift = 1.1;
  /// A restart that leaves more than this share of the true residual has stalled.
  static constexpr double least_gain = 0.9;

  /// `first_norm`: ‖r_0‖, which is ‖b‖ where x begins at 0. A sweep gives ‖b‖, or 1 where b is 0.
  explicit StopRule(const StopCriterion& criterion, double first_norm = -1)
      : criterion_(criterion), first_norm_(first_norm) {}

  /// False until `first_norm` is known.
  bool has_first_norm() const { return !(first_norm_ < 0); }
  double first_norm() const { return first_norm_; }
  /// For a checkpoint, and for who learns it after the first pass.
  double& first_norm() { return first_norm_; }
  const StopCriterion& criterion() const { return criterion_; }

  /// The norm below which the residual is small enough, and its square, for detectors that compare
  /// sums of squares.
  double wanted_norm() const { return criterion_.wanted_norm(first_norm_); }
  double wanted_square() const { return wanted_norm() * wanted_norm(); }

  bool is_met(double norm) const { return criterion_.is_met(norm, first_norm_); }

  /// ‖r‖/‖r_0‖; ‖r‖ where that is 0.
  double relative(double norm) const { return first_norm_ > 0 ? norm / first_norm_ : norm; }

  /// True if the squares of residuals lose digits, or are 0, before the residual is small enough:
  /// nobody can tell when such a solve has converged. No residual falls below the rounding of b.
  /// False where b is 0.
  bool is_out_of_range() const;

  /// Converged, diverged, breakdown where `norm` is not finite, or neither.
  SolveStatus status_at(double norm) const;

  /// Describes a solve before any iteration: converged, broken down or neither. `bound`: of b·b.
  SolveReport start(double bound) const;

  /// The stop test: notes that an iteration ended with ‖r‖ = `norm`, and how the solve ends if it
  /// ends there.
  void note(double norm, SolveReport& report) const;

  /// Judges a solve that has ended with the true residual `norm`. True if it is to begin again from
  /// there, because only the recurrence has converged; `report` counts that. Else `report` says how
  /// the solve ended.
  bool must_begin_again(double norm, SolveReport& report) const;

 private:
  StopCriterion criterion_;
  double first_norm_;
};

/// Why a solve ends whose rule `is_out_of_range`.
inline constexpr const char* out_of_range =
    "the squares of b leave the range of double; scale the system";

}  // namespace weft::solver
