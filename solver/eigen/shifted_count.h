#pragma once

#include <memory>
#include <optional>
#include <string>

#include "solver/direct/inertia.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// Counts the eigenvalues of a symmetric distributed matrix on either side of a number: rank 0 has
/// all of it and factors it. Limits depend on the matrix alone.
class ShiftedCount {
 public:
  /// `unit`: a power of two near ‖A‖. `most_flops`: of one factorization. Collective. Thread: the
  /// main thread, outside the team. Lifetime: `op` outlives it.
  ShiftedCount(const spmv::SparseOperator& op, double unit, double most_flops);

  /// Why nothing can be counted, a clause; empty: it can. The same on all ranks.
  const std::string& obstacle() const { return obstacle_; }
  /// None where the factorization breaks down at that number. Collective; the same on all ranks.
  std::optional<Inertia> collective_count(double sigma) const;

 private:
  void collective_gather(double most_flops);

  const spmv::SparseOperator& op_;
  double unit_;
  std::string obstacle_;
  std::unique_ptr<InertiaCounter> counter_;  // on rank 0
};

}  // namespace weft::solver
