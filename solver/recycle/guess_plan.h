#pragma once

#include <cstdint>
#include <span>

namespace weft::solver {

/// How many of the last solutions a first guess takes: as many as save more iterations than they
/// cost, and one more to see whether that would. Where they save less than the guess costs itself,
/// it tries again after two solves or as many as it takes for the loss to be a twentieth of their
/// iterations.
class GuessPlan {
 public:
  /// `most`: of the vectors.
  explicit GuessPlan(int most) : most_(most) {}

  /// Vectors for the next guess; 0: no guess.
  int count() const { return pause_ > 0 ? 0 : count_; }
  /// Solutions that the guesses to come may need.
  int wanted() const { return pause_ > 1 ? 0 : pause_ > 0 ? first_count : count_; }

  /// In iterations.
  struct Costs {
    double of_vector = 0;
    double of_guess = 0;  // beside its vectors
    double of_solve = 0;
  };

  /// Notes a solve. `digits`: by which each vector of its guess made the error smaller;
  /// `digits_of_iteration`: what an iteration does.
  void note(std::span<const double> digits, double digits_of_iteration, const Costs& costs);

  /// Calls carry(number) for each number of the state.
  template <class Carry>
  void for_each_number(const Carry& carry) {
    carry(count_);
    carry(pause_);
  }

 private:
  static constexpr int first_count = 2;
  static constexpr double shortest_pause = 2;
  static constexpr double longest_pause = 32;
  static constexpr double share_of_loss = 0.05;

  int most_;
  int count_ = first_count;
  int pause_ = 0;  // solves without a guess that are left
};

}  // namespace weft::solver
