#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace weft::solver {

/// The sum over the threads of what each found last (the square of its part of the residual), kept
/// up to date without anybody waiting for anybody: each adds by how much its own has changed.
///
/// Sums of differences of doubles drift: after a thousand additions of about ‖b‖² they may be wrong
/// by 10⁻¹³ of it, more than the threshold of a tolerance of 10⁻⁷. So whole numbers are added, of
/// 2⁻²⁰ of the threshold, rounded up; one thread's part is cut off at 2⁶² over the number of
/// threads, where the sum is far above the threshold anyway.
/// Source: Bethune et al. 2012, section 3.3.3 (an atomic addition).
///
/// Memory ordering: the sum is changed by relaxed read-modify-writes, none of which is lost;
/// nothing else is published by them. A part is its thread's alone.
class RunningSquare {
 public:
  /// All parts are 0.
  RunningSquare(int thread_count, double threshold);

  /// Replaces the part of `thread`; whether the sum was then below the threshold. Not a number
  /// counts as too large. Thread: that one, beside the others.
  bool contribute(int thread, double square);

 private:
  struct alignas(64) Part {
    std::int64_t units = 0;
  };

  std::int64_t units(double square) const;

  const double unit_;
  const std::int64_t largest_part_;
  std::vector<Part> parts_;
  alignas(64) std::atomic<std::int64_t> sum_{0};
};

}  // namespace weft::solver
