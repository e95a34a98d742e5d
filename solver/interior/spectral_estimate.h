#pragma once

#include <cstdint>
#include <vector>

#include "solver/eigen/energy_range.h"
#include "solver/spectrum/spectral_interval.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"

namespace weft::solver {

/// About how many eigenvalues lie where, by the kernel polynomial method, at a small part of the
/// cost of a search: it chooses filters, and proves nothing.
class SpectralEstimate {
 public:
  /// Collective. Thread: the main thread, outside the team.
  SpectralEstimate(spmv::SparseOperator& op, spmv::Mode mode);

  /// All eigenvalues lie in it.
  const SpectralInterval& spectrum() const { return spectrum_; }
  /// Eigenvalues in a range.
  double count(const EnergyRange& range) const;
  /// The distance from `sigma` within which so many eigenvalues lie.
  double distance(double sigma, double count) const;
  /// Products of one vector that it took.
  std::int64_t product_count() const { return product_count_; }

 private:
  SpectralInterval spectrum_;
  std::vector<double> moments_;  // times the factors of the kernel
  std::int64_t product_count_ = 0;
};

}  // namespace weft::solver
