#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>

namespace weft::solver {

/// Step `k`, from 0, of the Chebyshev iteration of the fourth kind for D⁻¹·A with eigenvalues up to
/// `largest`: x += momentum·(x - x_before) + factor·D⁻¹·(b - A·x). It needs no lower bound of the
/// eigenvalues, damps all that a coarse grid cannot see, and is symmetric.
/// Source: Lottes 2023, "Optimal polynomial smoothers for multigrid V-cycles", section 2.
struct SmootherStep {
  SmootherStep(int k, double largest)
      : momentum((2.0 * k - 1) / (2.0 * k + 3)),
        factor((8.0 * k + 4) / (2.0 * k + 3) / largest),
        start_factor(4.0 / 3.0 / largest) {}
  double momentum;
  double factor;
  double start_factor;  // of step 0
};

/// The steps with which a pass smooths, by Chebyshev's iteration of the fourth kind.
class Smoother {
 public:
  static constexpr int most_steps = 8;

  /// Throws std::out_of_range unless `steps` is from 1 to `most_steps`.
  Smoother(int steps, double largest) : step_count_(steps), steps_(filled(largest)) {
    if (steps < 1 || steps > most_steps) throw std::out_of_range("steps of a smoother");
    for (int k = 0; k < steps; ++k) steps_[static_cast<std::size_t>(k)] = {k, largest};
  }

  int step_count() const { return step_count_; }
  const SmootherStep& step(std::size_t k) const { return steps_[k]; }

 private:
  static std::array<SmootherStep, most_steps> filled(double largest) {
    const SmootherStep first(0, largest);
    return {first, first, first, first, first, first, first, first};
  }

  int step_count_;
  std::array<SmootherStep, most_steps> steps_;
};

/// The coefficients of Chebyshev's semi-iteration for a matrix with eigenvalues in [least, most]:
/// d = old·d + fresh·z, x += d, with z the preconditioned residual.
/// Source: Saad, "Iterative Methods for Sparse Linear Systems", algorithm 12.1.
class SemiIteration {
 public:
  SemiIteration(double least, double most)
      : half_width_((most - least) / 2), ratio_((most + least) / (most - least)) {}

  struct Step {
    double old;
    double fresh;
  };
  Step next() {
    if (rho_ == 0) {
      rho_ = 1 / ratio_;
      return {0, 1 / (ratio_ * half_width_)};
    }
    const double before = rho_;
    rho_ = 1 / (2 * ratio_ - rho_);
    return {rho_ * before, 2 * rho_ / half_width_};
  }

  /// What `next` carries from one step to another.
  double& carried() { return rho_; }

 private:
  double half_width_;
  double ratio_;
  double rho_ = 0;
};

}  // namespace weft::solver
