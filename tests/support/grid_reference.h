#pragma once

#include <span>
#include <vector>

#include "spmv/grid/diffusion_problem.h"
#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_layout.h"

namespace weft::tests {

/// The points of `box`, x fastest.
std::vector<spmv::GridBox> points(const spmv::GridBox& box);

/// to = average of the six neighbours in `from` on the points of `box`: what every sweep is
/// compared with, bit for bit.
void sweep_grid(const spmv::GridLayout& layout, std::span<const double> from, std::span<double> to,
                const spmv::GridBox& box);

/// The squares of (sum of the neighbours − 6·u) on the points of `box`.
std::vector<double> residual_squares(const spmv::GridLayout& layout, std::span<const double> values,
                                     const spmv::GridBox& box);

/// The sum, rounded once.
double exact_sum(std::span<const double> values);

/// The same sum without the parts of the values below 2⁻¹⁰⁴ of `bound`: the reference of BinnedSum.
double binned_sum(std::span<const double> values, double bound);

/// The diffusion problem on one rank, swept by one loop.
class ReferenceDiffusion {
 public:
  explicit ReferenceDiffusion(const spmv::DiffusionProblem& problem);

  double value(spmv::GlobalIndex x, spmv::GlobalIndex y, spmv::GlobalIndex z) const {
    return values_[layout_.index(x, y, z)];
  }
  void sweep();
  /// Of all points.
  std::vector<double> residual_squares() const {
    return tests::residual_squares(layout_, values_, layout_.own());
  }

 private:
  spmv::GridLayout layout_;
  std::vector<double> values_, new_values_;
};

}  // namespace weft::tests
