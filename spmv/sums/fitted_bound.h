#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::spmv {

/// Bound of one kind of sums (BinnedSumOf), fitted to what the sums turn out to be.
///
/// Sums are made with an estimate that is known beforehand. A sum far above it depends on the order
/// of its addends; one far below it has lost digits. Such a sum does not fit, and is made again
/// with its largest addend as the bound. Later estimates are corrected by the same factor, so that
/// their sums fit; the factor of estimates that fit is 1.
///
/// The answer of `fits` is the same for any order of addition. Addends that are at most 2²⁵·bound
/// together are summed alike, and beyond that a sum of squares is above the limit in any order. A
/// sum of mixed sign is so, too, unless 2¹³ times as much as the sum cancels.
class FittedBound {
 public:
  static constexpr double most = 0x1p12;  // the largest sum that fits, as a multiple of the bound
  static constexpr int kept_digits = 61;  // of a sum that fits: those of a double and 8 more

  FittedBound() = default;
  /// `is_last_sum`: the estimate is the last sum of the kind, of which nothing can be learnt.
  explicit FittedBound(bool is_last_sum) : is_last_sum_(is_last_sum) {}

  /// Forgets what was learnt.
  void reset() { *this = FittedBound(is_last_sum_); }

  /// The bound of the next sum. `digits`: binary digits below the bound that are summed.
  /// `estimate`: 0 if nothing is to be added.
  double next(double estimate, int digits) {
    digits_ = digits;
    estimate_ = std::min(estimate, std::numeric_limits<double>::max());
    return bound();
  }
  double bound() const { return std::ldexp(estimate_, -static_cast<int>(excess_)); }

  /// True if the sum is so large that the addends of others with like estimates may be, too.
  bool is_exceeded(double sum) const {
    return estimate_ != 0 && std::isfinite(sum) && !(std::abs(sum) <= most * bound());
  }
  /// False if the sum is to be made again. Sums that are not finite stay.
  bool fits(double sum) const {
    if (estimate_ == 0 || !std::isfinite(sum)) return true;
    return !is_exceeded(sum) &&
           std::abs(sum) >=
               std::ldexp(bound(), kept_digits - digits_ - static_cast<int>(cancelled_));
  }

  /// The bound to make a sum again with: that of `count` addends up to `largest`.
  static double bound_of(double largest, double count) {
    return std::min(largest * std::max(1.0, count * 0x1p-24), std::numeric_limits<double>::max());
  }

  /// Corrects later estimates by a sum that did not fit, now made again; `largest`: of its addends.
  void learn(double sum, double largest) {
    if (is_last_sum_) return;
    const double magnitude = std::max(std::abs(sum), largest);
    excess_ = std::max(0, exponent_of(estimate_) - exponent_of(magnitude));
    cancelled_ = exponent_of(magnitude) - exponent_of(sum);
  }

  /// What a checkpoint takes, both 0 where nothing was learnt.
  double& excess() { return excess_; }
  double& cancelled() { return cancelled_; }

 private:
  /// Of a sum of 0, which nothing is below, that of the smallest double.
  static int exponent_of(double value) {
    int exponent = -1074;
    if (value != 0) std::frexp(value, &exponent);
    return exponent;
  }

  bool is_last_sum_ = false;
  int digits_ = 0;
  double estimate_ = 0;
  double excess_ = 0;  // digits by which estimates are too high; never too low, which a jump makes
  double cancelled_ = 0;  // digits by which addends of mixed sign exceed their sum
};

}  // namespace weft::spmv
