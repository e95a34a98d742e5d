#pragma once

#include <span>

#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// One vector n that a singular matrix maps to zero, A·n = 0, and the projection P = I − n·nᵀ, of
/// length 1, that takes it out of a vector. The bits do not depend on ranks and threads.
///
/// Lifetime: `op` outlives it.
class NullSpace {
 public:
  /// `vector`: this rank's rows of n; empty for the constant vector. Shape: [element_count] or [0].
  /// Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError on every
  /// rank where A·n is not zero but for rounding, or n is zero.
  NullSpace(spmv::SparseOperator& op, std::span<const double> vector);

  /// v = P·v; returns n·v. Bytes: 32 a row; one reduction. Shape: v: [element_count]. Collective.
  /// Thread: every thread of the team, after it wrote its rows of v; ends with a barrier.
  double collective_project(const comm_thread::TeamThread& thread, double* v);

  /// ‖v‖. Collective. Thread: the main thread, outside the team.
  double collective_norm(std::span<const double> v);

  const spmv::SparseOperator& op() const { return op_; }

 private:
  double collective_dot(const comm_thread::TeamThread& thread, const double* a, const double* b);

  spmv::SparseOperator& op_;
  comm_thread::ReproducibleSum sum_;
  perfmodel::HugePageBuffer<double> direction_;  // n
};

/// z = P·M·r: keeps a solve with a singular matrix away from what the matrix cannot see, for any
/// method that takes a general preconditioner.
///
/// In exact arithmetic r stays in the range of a symmetric A, where P·r = r, so that P·M is as good
/// as the symmetric P·M·P. Costs one reduction an application.
/// Lifetime: both outlive it.
/// Source: Bochev and Lehoucq 2005, "On the finite element solution of the pure Neumann problem".
class DeflatedPreconditioner final : public Preconditioner {
 public:
  /// `inner`: M; null for the identity.
  DeflatedPreconditioner(NullSpace& null_space, Preconditioner* inner)
      : null_space_(null_space), inner_(inner) {}

  void apply(const comm_thread::TeamThread& thread, const double* r, double* z) override;
  void begin_solve() override {
    if (inner_) inner_->begin_solve();
  }
  double norm() const override { return inner_ ? inner_->norm() : 1; }
  bool is_symmetric() const override { return !inner_ || inner_->is_symmetric(); }
  bool has_levels() const override { return inner_ && inner_->has_levels(); }

 private:
  NullSpace& null_space_;
  Preconditioner* inner_;
};

}  // namespace weft::solver
