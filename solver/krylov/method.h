#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/krylov/least_iterate.h"
#include "solver/krylov/multigrid_settings.h"
#include "solver/krylov/stop_criterion.h"
#include "solver/precondition/preconditioner.h"
#include "solver/report/solve_report.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/sums/binned_sum.h"

namespace weft::solver {

/// Where a solve starts: at these values, or at 0 where there are none. Said on all ranks alike:
/// the values of a rank without rows are empty. Shape: [element_count].
using Guess = std::optional<std::span<const double>>;

/// Common part of all Krylov methods: solves from x = 0 until ‖r_k‖ < tolerance·‖r_0‖ by the
/// recurrence *and* the true residual b − A·x agrees. The iterations, and every bit of x, are the
/// same for any number of ranks and threads and in any mode.
///
/// A method derives two functions: `collective_begin` takes a residual, `collective_iterate`
/// iterates from it.
class KrylovMethod {
 public:
  struct Options {
    spmv::Mode mode = spmv::Mode::task;
    Preconditioner* preconditioner = nullptr;  // null: the identity; outlives the method
    StopCriterion stop;
    /// Iterations without progress after which a solve ends as a breakdown: the residual has not
    /// halved in so many, nor in half of all so far, or twice as many promise more iterations than
    /// there may be. 0: it goes on to the limit.
    std::int64_t patience = 0;
    int restart = 30;  // of GMRES: iterations of a cycle
    MultigridSettings multigrid{};  // of multigrid as a method
    /// Called by the primary thread of every rank after each iteration, with ‖r_k‖/‖r_0‖.
    std::function<void(std::int64_t iteration, double residual)> on_iteration;
    /// Called by the primary thread after each step of textbook CG, with its α and β, the last of
    /// which may be 0: the matrix of Lanczos' iteration.
    std::function<void(double alpha, double beta)> on_step{};
    /// Called as `on_iteration`; true ends the solve after one more iteration. The same on all
    /// ranks.
    std::function<bool(std::int64_t iteration, double residual)> stops{};
    /// Where the state is kept, and from which `solve` continues; null: nowhere. Outlives the
    /// method. A solve that ends unconverged, by `stops`, a signal or the limit of iterations,
    /// keeps its last state.
    Checkpoints* checkpoints = nullptr;
  };

  /// Factor by which the true residual may exceed the tolerance in a converged solve: recurrence
  /// and true residual differ by rounding, and a restart for less would cost more than it gains.
  static constexpr double allowed_drift = 1.1;
  /// A restart that leaves more than this share of the true residual has stalled.
  static constexpr double least_gain = 0.9;

  /// Allocates. Collective. Thread: the main thread, outside the team. `op` outlives it.
  KrylovMethod(spmv::LinearOperator& op, Options options);
  virtual ~KrylovMethod() = default;
  KrylovMethod(const KrylovMethod&) = delete;
  KrylovMethod& operator=(const KrylovMethod&) = delete;

  /// Solves A·x = b from x = 0. Where the recurrence has converged and the true residual has not,
  /// iterates again from the true residual; where that gains less than a tenth, ends as not
  /// converged. Collective. Thread: the main thread, outside the team. Shape: b: [element_count].
  /// Throws comm_thread::MpiError, and comm_thread::InputError where a checkpoint to continue from
  /// is of another system or method.
  SolveReport solve(std::span<const double> b) { return solve(b, std::nullopt); }

  /// The same from `guess`. Iterations end where ‖b − A·x‖ is small
  /// compared with ‖b‖, so that a good guess saves some. Not for multigrid as a method.
  SolveReport solve(std::span<const double> b, const Guess& guess);

  /// The same inside a run of the team, for methods that solve in every iteration. The status is
  /// that of the recurrence; the report has neither times nor the relative residual.
  /// Collective. Thread: every thread of the team, after it wrote its rows of b; all get the same
  /// report, and own the same rows of the solution.
  SolveReport solve_in_team(const comm_thread::TeamThread& thread, std::span<const double> b);

  /// Goes on with other values of the matrix, of the same pattern, to which the preconditioner has
  /// adapted; see Preconditioner::collective_take_new_values. False where the method must be made
  /// anew. Collective. Thread: the main thread, outside the team.
  virtual bool collective_take_new_values() { return false; }

  /// When solves end from now on. Thread: the main thread, outside the team.
  void set_stop(const StopCriterion& stop) { options_.stop = stop; }

  /// The last solution. Shape: [element_count].
  std::span<const double> solution() const { return x_.span(); }

  /// Describes a solve whose ‖b‖² is `square` before any iteration: converged, broken down or
  /// neither. `bound`: of b·b.
  static SolveReport start_report(const StopCriterion& stop, double square, double bound);

  /// Judges a solve that has ended with the true residual `norm`. True if it is to begin again from
  /// there, because only the recurrence has converged; else `report` says how it ended.
  /// `norm_before`: that at the last restart, or infinite.
  static bool must_begin_again(const StopCriterion& stop, double norm, double first_norm,
                               double norm_before, SolveReport& report);

  /// Why CG cannot go on where p·A·p is not positive.
  static std::string explain_curvature(double curvature);

  /// Bytes per row and iteration that the method moves besides the matrix, if every array is loaded
  /// or stored once in each pass, with write-allocate.
  virtual double vector_bytes() const = 0;

 protected:
  using Array = perfmodel::HugePageBuffer<double>;

  /// Arrays that a method lends when it has ended.
  struct Spare {
    spmv::Operand* operand;
    double* product;
  };
  virtual Spare spare() = 0;

  /// ‖b − A·x‖, with A·x in the array that `spare` lends. Every thread.
  virtual double collective_true_norm(const comm_thread::TeamThread& thread,
                                      std::span<const double> b);

  /// Takes the residual b − product, or b where `product` is null, and forgets all directions.
  /// `product` may be the array that `spare` lends. Every thread; ends with a barrier.
  virtual void collective_begin(const comm_thread::TeamThread& thread, std::span<const double> b,
                                const double* product) = 0;

  /// Iterates from the residual of `collective_begin` until the recurrence has converged, broken
  /// down or run out of iterations. `bound`: of r·r. `first_norm`: ‖r_0‖ of the whole solve;
  /// negative before it is known. Every thread computes the same.
  virtual void collective_iterate(const comm_thread::TeamThread& thread, std::span<const double> b,
                                  double bound, double& first_norm, SolveReport& report) = 0;

  /// What the recurrence carries from one iteration to the next, besides scalars.
  struct Recurrence {
    std::string name;  // of this state; with everything that decides what the scalars mean
    std::size_t vector_count;
  };
  virtual Recurrence recurrence() const = 0;

  /// True if a checkpoint waits for `collective_carry` to take it: `collective_iterate` then does
  /// so instead of starting from the residual.
  bool is_continued() const { return options_.checkpoints && options_.checkpoints->has_state(); }

  enum class Carry { keep, restore };
  /// Keeps what the recurrence carries if a checkpoint is due, after `note` and before anything of
  /// the next iteration; or takes it from the checkpoint. The iterations so far, the residuals and
  /// `first_norm` are carried as well. Shape: vectors: [element_count]; null ones are left out.
  /// Every thread.
  void collective_carry(const comm_thread::TeamThread& thread, Carry direction, double& first_norm,
                        SolveReport& report, std::initializer_list<double*> scalars,
                        std::initializer_list<double*> vectors);
  /// True if a checkpoint of the iteration that has ended is due.
  bool is_checkpoint_due(const SolveReport& report) const;

  spmv::LinearOperator& op() const { return operator_; }
  const Options& options() const { return options_; }
  Array make_array() const;
  std::unique_ptr<spmv::Operand> collective_make_operand() {
    return operator_.collective_make_operand();
  }

  /// The preconditioner if it is neither the identity nor diagonal, else null.
  Preconditioner* general() const { return diagonal_ ? nullptr : options_.preconditioner; }
  bool is_identity() const { return options_.preconditioner == nullptr; }
  /// D and D⁻¹ from element `begin` on where the preconditioner is diagonal, else null.
  const double* diagonal(std::size_t begin) const;
  const double* inverse_diagonal(std::size_t begin) const;
  /// ‖M‖.
  double preconditioner_norm() const { return is_identity() ? 1 : options_.preconditioner->norm(); }

  /// Calls work(first element, count) for every segment of `thread`.
  template <class Work>
  void for_each_segment(const comm_thread::TeamThread& thread, const Work& work) const {
    for (const spmv::Segment& segment : operator_.segments(thread.index))
      work(segment.begin, segment.count);
  }
  /// Calls work(element) for every element of `thread`.
  template <class Work>
  void for_each_element(const comm_thread::TeamThread& thread, const Work& work) const {
    for (const spmv::Segment& segment : operator_.segments(thread.index))
      for (std::size_t i = segment.begin, end = i + static_cast<std::size_t>(segment.count);
           i < end; ++i)
        work(i);
  }
  void fill_zero(const comm_thread::TeamThread& thread,
                 std::initializer_list<double*> arrays) const;
  void copy(const comm_thread::TeamThread& thread, const double* from, double* to) const;
  /// r = b − product, or b where `product` is null.
  void subtract(const comm_thread::TeamThread& thread, std::span<const double> b,
                const double* product, double* r) const;

  /// v = D⁻¹·v where the preconditioner is diagonal; nothing otherwise.
  void scale(const comm_thread::TeamThread& thread, double* v) const;

  /// Adds each of `sums` to this thread's part of `total`, in order.
  template <class Sum>
  static void flush(comm_thread::ReproducibleSum& total, const comm_thread::TeamThread& thread,
                    std::initializer_list<Sum*> sums) {
    int scalar = 0;
    for (Sum* const sum : sums) sum->flush(total.part(thread.index, scalar++));
  }

  /// ‖A·v‖ is at most this times ‖A‖∞·‖v‖, for matrices that are not symmetric: ‖A‖₁ may be larger.
  static constexpr double room_above_norm = 1024;

  /// Ends an iteration that cannot go on, because of `why`.
  static void break_down(SolveReport& report, std::string why) {
    report.status = SolveStatus::breakdown;
    report.explanation = std::move(why);
  }

  SolveReport start_report(double square, double bound) const {
    return start_report(options_.stop, square, bound);
  }

  /// The stop test: notes that iteration number `report.iterations` ended with ‖r‖ = `norm`, and in
  /// the status whether the solve ends there. A norm that is not finite is a breakdown.
  void note(const comm_thread::TeamThread& thread, double norm, double first_norm,
            SolveReport& report) const;

  /// Tells the operator how many products are to come, once.
  void forecast_products(const comm_thread::TeamThread& thread, double norm, double first_norm,
                         const SolveReport& report) const;

  /// Ends a solve that has stalled, see Options::patience.
  void watch_progress(double norm, double first_norm, SolveReport& report) const;

  /// A sum of one number, for FittedSums and what is summed apart.
  comm_thread::ReproducibleSum& extra_sum() { return squares_; }

  /// Brings the current iterate to x_, where it is in `other`, the second array of `iterates`; then
  /// the other one is in `other`. Thread: every thread of the team, for its own rows.
  void settle(const comm_thread::TeamThread& thread, LeastIterate& iterates, double* other);
  /// The same of the least iterate, where the solve ends as a breakdown or diverged: its residual
  /// becomes that of the report.
  void settle_at_end(const comm_thread::TeamThread& thread, LeastIterate& iterates, double* other,
                     double first_norm, SolveReport& report);

  /// Begins again from the true residual b − A·x. Every thread.
  void collective_begin_again(const comm_thread::TeamThread& thread, std::span<const double> b);

  Array x_;
  perfmodel::PhaseTimer timer_;

 private:
  /// A·x, in the array that `spare` lends. Every thread.
  const double* collective_multiply_solution(const comm_thread::TeamThread& thread,
                                             perfmodel::PhaseTimer& timer);
  /// An upper bound of the square of b − product that is the same on any ranks and threads; 0 only
  /// where all is zero. `product` may be null. Every thread.
  double collective_bound_square(const comm_thread::TeamThread& thread, std::span<const double> b,
                                 const double* product);
  /// ‖b − product‖²; `product` may be null. Every thread.
  double collective_square(const comm_thread::TeamThread& thread, std::span<const double> b,
                           const double* product);
  SolveReport collective_solve(const comm_thread::TeamThread& thread, std::span<const double> b,
                               double& first_norm);
  /// Continues from the checkpoint.
  SolveReport collective_continue(const comm_thread::TeamThread& thread, std::span<const double> b,
                                  double& first_norm);
  void collective_open_checkpoints(std::span<const double> b);
  SolveReport collective_solve_from(const comm_thread::TeamThread& thread,
                                    std::span<const double> b, std::span<const double> guess,
                                    double& first_norm);
  void collective_verify(const comm_thread::TeamThread& thread, std::span<const double> b,
                         double first_norm, SolveReport& report);

  spmv::LinearOperator& operator_;
  Options options_;
  const DiagonalPreconditioner* diagonal_ = nullptr;
  comm_thread::ReproducibleSum squares_;  // of what is not iterated
  std::vector<double> largest_;  // magnitude that every thread found
  double bound_ = 0;
  /// What `stops` and the checkpoints asked for after the last iteration with an even and an odd
  /// number.
  /// Memory ordering: the primary thread writes one after an iteration, all read it after the next
  /// one; there are barriers of the team between.
  enum class Asked : std::uint8_t { nothing, checkpoint, stop };
  mutable std::array<std::atomic<Asked>, 2> asked_{};
  Asked asked_before(std::int64_t iteration) const;
  Asked ask(std::int64_t iteration, double residual) const;
};

}  // namespace weft::solver
