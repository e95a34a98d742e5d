#pragma once

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
