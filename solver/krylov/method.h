#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/krylov/stop_criterion.h"
#include "solver/precondition/inverse_operator.h"
#include "solver/report/solve_report.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/sums/binned_sum.h"

namespace weft::solver {

enum class Preconditioner { none, jacobi };

/// What all Krylov methods have in common: from x = 0, until the recurrence says
/// that ‖r_k‖ < tolerance·‖r_0‖; then the true residual. The iterations, and every bit of x, are
/// the same for any number of ranks and threads and in any mode.
class KrylovMethod {
 public:
  struct Options {
    spmv::Mode mode = spmv::Mode::task;
    Preconditioner preconditioner = Preconditioner::none;
    /// Any other preconditioner, in the place of that; outlives the method. Not used by methods
    /// that collective_make_krylov_method does not choose for it.
    InverseOperator* inverse = nullptr;
    StopCriterion stop;
    int restart = 30;  // of GMRES: iterations of a cycle
    /// Called by the primary thread of every rank after each iteration, with ‖r_k‖/‖r_0‖.
    std::function<void(std::int64_t iteration, double residual)> on_iteration;
  };

  /// Allocates. Collective. Thread: the main thread, outside the team. `op` outlives it.
  KrylovMethod(spmv::LinearOperator& op, Options options);
  virtual ~KrylovMethod() = default;
  KrylovMethod(const KrylovMethod&) = delete;
  KrylovMethod& operator=(const KrylovMethod&) = delete;

  /// Solves A·x = b from x = 0. Collective. Thread: the main thread, outside the team.
  /// Shape: b: [element_count]. Throws comm_thread::MpiError.
  SolveReport solve(std::span<const double> b);

  /// The same inside a run of the team, for methods that solve in every iteration. The report has
  /// neither times nor the relative residual, which would cost a product.
  /// Collective. Thread: every thread of the team, after it wrote its rows of b; all get the same
  /// report, and own the same rows of the solution.
  virtual SolveReport solve_in_team(const comm_thread::TeamThread& thread,
                                    std::span<const double> b) = 0;

  /// The last solution. Shape: [element_count].
  std::span<const double> solution() const { return x_.span(); }

  /// Bytes per row and iteration that the method moves besides the matrix, if every array is loaded
  /// or stored once in each pass, with write-allocate.
  virtual double vector_bytes() const = 0;
  /// Products A·x an iteration that go through memory.
  virtual int product_count() const { return 1; }

 protected:
  using Array = perfmodel::HugePageBuffer<double>;

  /// Arrays that a method lends when it has ended.
  struct Spare {
    spmv::Operand& operand;
    double* product;
  };
  virtual Spare spare() = 0;

  spmv::LinearOperator& op() const { return operator_; }
  const Options& options() const { return options_; }
  Array make_array() const;
  std::unique_ptr<spmv::Operand> collective_make_operand() {
    return operator_.collective_make_operand();
  }

  /// Calls work(first element, count) for every segment of `thread`.
  template <class Work>
  void for_each_segment(const comm_thread::TeamThread& thread, const Work& work) const {
    for (const spmv::Segment& segment : operator_.segments(thread.index))
      work(segment.begin, segment.count);
  }

  /// An upper bound of b·b that is the same on any ranks and threads; 0 where b is. Every thread.
  double collective_bound_square(const comm_thread::TeamThread& thread, std::span<const double> b);

  /// What is to be said where ‖b‖² is `square`: nothing, converged, or a breakdown. `bound`: as
  /// found above.
  SolveReport start_report(double square, double bound) const;

  /// Notes that iteration number `report.iterations` ended with ‖r‖ = `norm`.
  void note(const comm_thread::TeamThread& thread, double norm, double first_norm,
            SolveReport& report) const;

  /// ‖b − A·x‖², which should be about `expected`. Every thread. Uses what `spare` lends.
  double collective_true_square(const comm_thread::TeamThread& thread, std::span<const double> b,
                                double expected);

  Array x_;
  perfmodel::PhaseTimer timer_;

 private:
  spmv::LinearOperator& operator_;
  Options options_;
  comm_thread::ReproducibleSum squares_;  // of what is not iterated
  std::vector<double> largest_;  // |b_i| of every thread
  double bound_ = 0;  // of b·b
};

}  // namespace weft::solver
