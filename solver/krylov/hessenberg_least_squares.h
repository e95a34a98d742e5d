#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace weft::solver {

/// The least squares problem of GMRES, min ‖β·e₁ − H·y‖, which grows by a column an iteration.
///
///     H, 2 columns     h h     Givens rotations make R     r r
///                      h h     of H as it grows, and       · r
///                      · h     the residual's norm is      · ·
///                              the last entry of the rotated right-hand side
///
/// Source: Saad and Schultz 1986, "GMRES", section 3.2.
class HessenbergLeastSquares {
 public:
  /// Room for `capacity` columns; nothing is allocated later.
  explicit HessenbergLeastSquares(std::size_t capacity);

  /// Begins anew, with β = `norm` and no columns.
  void start(double norm);

  /// Adds a column and returns true; or leaves it out, where it depends on those before to working
  /// precision. Shape: column: [size() + 2], changed.
  bool append(std::span<double> column);

  /// Columns so far.
  std::size_t size() const { return size_; }
  /// ‖β·e₁ − H·y‖ of the best y.
  double residual_norm() const;
  /// The best y. Valid until the next call of a function that changes the problem. Shape: [size()].
  std::span<const double> solve();

 private:
  double& r(std::size_t row, std::size_t column) { return r_[column * capacity_ + row]; }

  std::size_t capacity_;
  std::size_t size_ = 0;
  std::vector<double> r_;  // [capacity_ × capacity_], by columns
  std::vector<double> cosines_;
  std::vector<double> sines_;
  std::vector<double> rotated_;  // [capacity_ + 1], the right-hand side
  std::vector<double> y_;
};

}  // namespace weft::solver
