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

/// The steps with which a pass smooths.
class Smoother {
 public:
  static constexpr int most_steps = 8;

  /// Chebyshev's iteration of the fourth kind, for cycles that smooth before and after.
  static Smoother both_sides(int steps, double largest) {
    Smoother smoother(steps, largest);
    for (int k = 0; k < steps; ++k) smoother.steps_[static_cast<std::size_t>(k)] = {k, largest};
    return smoother;
  }

  /// Chebyshev's iteration of the first kind for the upper part of the eigenvalues, for cycles that
  /// smooth only before or only after. Damping per cycle of two grids in three directions, by
  /// Fourier analysis, of the fourth kind and of this: 0.23 and 0.17 with three steps, 0.22 and
  /// 0.12 with four, 0.15 and 0.09 with six.
  /// Source: Saad, "Iterative Methods for Sparse Linear Systems", algorithm 12.1.
  static Smoother one_side(int steps, double largest) {
    constexpr std::array<double, most_steps> least{0.33, 0.2, 0.15, 0.15, 0.1, 0.1, 0.085, 0.075};
    Smoother smoother(steps, largest);
    const double least_share = least.at(static_cast<std::size_t>(steps) - 1);
    const double middle = largest * (1 + least_share) / 2;
    const double half_width = largest * (1 - least_share) / 2;
    double rho = half_width / middle;
    for (int k = 0; k < steps; ++k) {
      SmootherStep& step = smoother.steps_[static_cast<std::size_t>(k)];
      step.start_factor = 1 / middle;
      step.momentum = 0;
      step.factor = 1 / middle;
      if (k == 0) continue;
      const double next = 1 / (2 * middle / half_width - rho);
      step.momentum = next * rho;
      step.factor = 2 * next / half_width;
      rho = next;
    }
    return smoother;
  }

  int step_count() const { return step_count_; }
  const SmootherStep& step(std::size_t k) const { return steps_[k]; }

 private:
  Smoother(int steps, double largest) : step_count_(steps), steps_(filled(largest)) {
    if (steps < 1 || steps > most_steps) throw std::out_of_range("steps of a smoother");
  }
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
