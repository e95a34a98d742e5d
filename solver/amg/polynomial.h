#pragma once

#include <array>
#include <cstddef>

namespace weft::solver::amg {

/// Chebyshev smoothing of the fourth kind with optimal weights, for a matrix with ones on the
/// diagonal and eigenvalues up to `largest`: from the residual r₀,
///
///     z_1 = factor_1·r₀,  x += weight_1·z_1
///     r_i-1 = r_i-2 − A·z_i-1,  z_i = momentum_i·z_i-1 + factor_i·r_i-1,  x += weight_i·z_i
///
/// It needs no lower bound of the eigenvalues. x gains a polynomial of A times r₀, so that
/// smoothing before and after the coarse correction makes a symmetric cycle. Source: Lottes 2023,
/// "Optimal polynomial smoothers for multigrid V-cycles", algorithm 1, table 1.
class Polynomial {
 public:
  static constexpr int most_degree = 4;

  struct Step {
    double momentum;
    double factor;
    double weight;
  };

  Polynomial(int degree, double largest) : degree_(degree), largest_(largest) {}

  int degree() const { return degree_; }
  /// Step `i`, from 1 to the degree.
  Step step(int i) const {
    return {
        .momentum = (2.0 * i - 3) / (2 * i + 1),
        .factor = (8.0 * i - 4) / (2 * i + 1) / largest_,
        .weight = weights[static_cast<std::size_t>(degree_ - 1)][static_cast<std::size_t>(i - 1)]};
  }

 private:
  static constexpr std::array<std::array<double, most_degree>, most_degree> weights{
      {{1.125, 0, 0, 0},
       {1.02387287570313, 1.26408905371085, 0, 0},
       {1.00842544782028, 1.08867839208730, 1.33753125909618, 0},
       {1.00391310427285, 1.04035811188593, 1.14863498546254, 1.38268869241000}}};

  int degree_;
  double largest_;
};

}  // namespace weft::solver::amg
