#pragma once

#include <functional>
#include <memory>
#include <span>

#include "comm_thread/reproducible_sum.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/solve_report.h"
#include "solver/stop_criterion.h"
#include "spmv/sparse_operator.h"

namespace weft::solver {

enum class Preconditioner { none, jacobi };

/// Conjugate gradients for symmetric positive definite matrices, plain or preconditioned with the
/// diagonal. The iterations, and every bit of x, are the same for any number of ranks and threads
/// and in any mode.
///
/// Three passes and two reductions an iteration; bytes per row besides the matrix:
///
///     q = A·p, p·q              read p, write q (16 with write-allocate)      8 + 16
///     r -= α q, r·r             read r, q, write r                            24   (+8 for D⁻¹)
///     x += α p, p = z + β p     read x, p, r, write x, p                      40   (+8 for D⁻¹)
///
/// 88 in all, against 120 and more where each vector operation is a loop of its own: the update of
/// x waits for the pass that reads p anyway, and z = D⁻¹ r is never stored.
/// Source: Hestenes and Stiefel 1952; Hoefler et al. 2006, listing 1.1.
class ConjugateGradient {
 public:
  struct Options {
    spmv::Mode mode = spmv::Mode::task;
    Preconditioner preconditioner = Preconditioner::none;
    StopCriterion stop;
    /// Called by the primary thread of every rank after each iteration, with ‖r_k‖/‖r_0‖.
    std::function<void(std::int64_t iteration, double residual)> on_iteration;
  };

  /// Allocates all vectors. Collective. Thread: the main thread, outside the team.
  /// `op` outlives the solver. Throws comm_thread::InputError on every rank when Jacobi
  /// preconditioning meets a diagonal entry that is zero.
  ConjugateGradient(spmv::SparseOperator& op, Options options);

  /// Solves A·x = b from x = 0. Collective. Thread: the main thread, outside the team.
  /// Shape: b: [row_count]. Throws comm_thread::MpiError.
  SolveReport solve(std::span<const double> b);

  /// The same inside a run of the team, for methods that solve in every iteration. The report has
  /// neither times nor the relative residual, which would cost a product.
  /// Collective. Thread: every thread of the team, after it wrote its rows of b; all get the same
  /// report, and own the same rows of the solution.
  SolveReport solve_in_team(const comm_thread::TeamThread& thread, std::span<const double> b);

  /// The last solution. Shape: [row_count].
  std::span<const double> solution() const { return x_.span(); }

 private:
  struct Norms {
    double r = 0;  // ‖r‖
    double r_dot_z = 0;
    bool is_nonzero = true;  // at the start: whether any entry is, however small
  };

  /// Calls work(first row, number of rows) for every row block of `thread`.
  template <class Work>
  void for_each_block(const comm_thread::TeamThread& thread, const Work& work) const;
  Norms collective_start(const comm_thread::TeamThread& thread, std::span<const double> b);
  double collective_product(const comm_thread::TeamThread& thread);
  Norms collective_update_residual(const comm_thread::TeamThread& thread, double alpha);
  void advance(const comm_thread::TeamThread& thread, double alpha, double beta);
  double collective_true_residual(const comm_thread::TeamThread& thread, std::span<const double> b);
  const double* inverse_diagonal(std::int64_t row) const {
    return inverse_diagonal_.data() ? inverse_diagonal_.data() + row : nullptr;
  }

  spmv::SparseOperator& operator_;
  Options options_;
  comm_thread::ReproducibleSum curvature_;  // p·A·p
  comm_thread::ReproducibleSum residual_;  // r·r, r·z
  std::unique_ptr<spmv::HaloVector> p_;
  perfmodel::HugePageBuffer<double> x_;
  perfmodel::HugePageBuffer<double> r_;
  perfmodel::HugePageBuffer<double> q_;
  perfmodel::HugePageBuffer<double> inverse_diagonal_;  // empty without a preconditioner
  perfmodel::PhaseTimer timer_;
};

}  // namespace weft::solver
