#pragma once

#include <cstdint>
#include <span>

namespace weft::solver {

/// How many of the last solutions a first guess takes: as many as save more iterations than their
/// products cost, and one more to see whether that would. Where none does, it tries again after 2,
/// 4, 8, … solves.
class GuessPlan {
 public:
  /// `most`: of the vectors.
  explicit GuessPlan(int most) : most_(most) {}

  /// Vectors for the next guess; 0: no guess.
  int count() const { return pause_ > 0 ? 0 : count_; }
  /// Solutions that the guesses to come may need.
  int wanted() const { return pause_ > 2 ? 0 : pause_ > 0 ? 2 : count_; }

  /// Notes a solve. `digits`: by which each vector of its guess made the error smaller;
  /// `digits_of_iteration`: what an iteration does; `cost`: of a vector, in iterations.
  void note(std::span<const double> digits, double digits_of_iteration, double cost);

 private:
  static constexpr int first_count = 2;
  static constexpr int longest_pause = 32;

  int most_;
  int count_ = first_count;
  int pause_ = 0;  // solves without a guess that are left
  int next_pause_ = 2;
};

}  // namespace weft::solver
