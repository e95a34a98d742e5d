#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "solver/direct/inertia.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// What eigenvalues are counted of: A, or A·x = λ·B·x.
struct CountedPencil {
  const spmv::SparseOperator& a;
  double unit_of_a = 1;  // a power of two near ‖A‖
  const spmv::SparseOperator* b = nullptr;  // positive definite; null: the identity
  double unit_of_b = 1;
  double least_of_b = 1;  // at most its least eigenvalue
};

/// Counts the eigenvalues of symmetric distributed matrices on either side of a number: rank 0 has
/// all of them and factors A − σB. Limits depend on the matrices alone.
class ShiftedCount {
 public:
  /// `most_flops`: of one factorization, of which no factor has more than `most_of_factor` or 10⁸
  /// entries; `most_sorting_bytes`: to sort the entries before it is known how many that takes.
  /// Collective. Thread: the main thread, outside the team. Lifetime: the operators outlive it.
  ShiftedCount(const CountedPencil& pencil, double most_flops, double most_sorting_bytes,
               double most_of_factor = HUGE_VAL);

  /// Why nothing can be counted, a clause; empty: it can. The same on all ranks.
  const std::string& obstacle() const { return obstacle_; }
  /// Of rank 0 at its peak; the same on all ranks.
  double bytes() const { return bytes_; }
  /// The same before there is a matrix, at most. `nonzeros`: of A and of B.
  static double most_bytes(double rows, double nonzeros, bool has_mass, double most_flops);
  /// None where the factorization breaks down at that number. Collective; the same on all ranks.
  std::optional<Inertia> collective_count(double sigma) const;

 private:
  void collective_gather(double most_flops, double most_of_factor);

  CountedPencil pencil_;
  std::string obstacle_;
  double bytes_ = 0;
  std::unique_ptr<InertiaCounter> counter_;  // on rank 0
};

}  // namespace weft::solver
