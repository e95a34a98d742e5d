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
#include "perfmodel/phase_times.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/krylov/least_iterate.h"
#include "solver/krylov/method_facts.h"
#include "solver/krylov/multigrid_settings.h"
#include "solver/precondition/preconditioner.h"
#include "solver/report/solve_report.h"
#include "solver/report/stop_rule.h"
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
/// iterates from it. One that solves for several right-hand sides at once has vectors of so many
/// columns; the bits of each are those of a solve for it alone.
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
    /// As `on_iteration`, with the number of the right-hand side of those solved for at once.
    std::function<void(int column, std::int64_t iteration, double residual)> on_column{};
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

  /// Allocates. Collective. Thread: the main thread, outside the team. `op` outlives it. `width`:
  /// right-hand sides that are solved for at once.
  KrylovMethod(spmv::LinearOperator& op, Options options, int width = 1);
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

  /// The same for each of `width` right-hand sides, without checkpoints; all reports have the times
  /// of the whole. Shape: b, guesses: [width] of [element_count]; guesses: or empty.
  std::vector<SolveReport> solve(std::span<const std::span<const double>> b,
                                 std::span<const std::span<const double>> guesses);

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
  void set_stop(const StopCriterion& stop, int column = 0) {
    stops_[static_cast<std::size_t>(column)] = stop;
  }

  /// The last solution. Shape: [element_count].
  std::span<const double> solution(int column = 0) const {
    return {x_.data() + start_of(column), operator_.element_count()};
  }

  /// Why CG cannot go on where p·A·p is not positive.
  static std::string explain_curvature(double curvature);

  /// What this object needs. A class has a static function of this name, too, which says it of any
  /// use before there is an object, and its `facts`.
  virtual MethodNeeds needs() const = 0;
  double vector_bytes() const { return needs().vector_bytes; }
  /// Vectors that this object has made, with x.
  double array_count() const { return array_count_; }
  /// The use that options ask for; of an operator whose kind is not known.
  static MethodUse use_of(const spmv::LinearOperator& op, const Options& options);

 protected:
  using Array = perfmodel::HugePageBuffer<double>;

  /// The solve for one right-hand side. Every thread has one; all are alike.
  struct Solve {
    int column = 0;  // of those that are solved for at once
    std::span<const double> b{};
    StopRule rule;
    double bound = 0;  // of r·r where an iteration begins
    double true_norm = 0;  // ‖b − A·x‖, as found last
    bool is_running = true;  // false once it is verified, or where there is nothing to iterate
    SolveReport report{};

    /// True while iterations are to follow.
    bool goes_on() const {
      return report.status == SolveStatus::not_converged &&
             report.iterations < rule.criterion().max_iterations;
    }
    /// Describes the solve, once, before its first iteration, whose residual has this norm.
    void know_first_norm(double norm) {
      if (rule.has_first_norm()) return;
      rule.first_norm() = norm;
      report = rule.start(bound);
    }
  };
  using Solves = std::span<Solve>;

  /// Arrays that a method lends when it has ended.
  struct Spare {
    spmv::Operand* operand;
    double* product;
  };
  virtual Spare spare() = 0;

  /// A·x of each column, in the array that `spare` lends. Every thread.
  virtual void collective_multiply_solutions(const comm_thread::TeamThread& thread,
                                             perfmodel::PhaseTimer& timer);

  /// Finds each `true_norm`, with A·x in the array that `spare` lends. Every thread.
  virtual void collective_find_true_norms(const comm_thread::TeamThread& thread, Solves solves);
  double collective_true_norm(const comm_thread::TeamThread& thread, Solve& solve) {
    collective_find_true_norms(thread, {&solve, 1});
    return solve.true_norm;
  }

  /// Takes the residual b − product, or b where `product` is null, and forgets all directions.
  /// `product` may be the array that `spare` lends. Every thread; ends with a barrier.
  virtual void collective_begin(const comm_thread::TeamThread& thread, const Solve& solve,
                                const double* product) = 0;

  /// Iterates those that are running, at least one, from the residual of `collective_begin` until
  /// the recurrence has converged, broken down or run out of iterations. Every thread computes the
  /// same.
  virtual void collective_iterate(const comm_thread::TeamThread& thread, Solves solves) = 0;

  /// The vectors that the recurrence carries from one iteration to the next, besides scalars; null
  /// ones are left out. Shape: [element_count] each.
  virtual std::vector<double*> carried() = 0;

  /// True if a checkpoint waits for `collective_carry` to take it: `collective_iterate` then does
  /// so instead of starting from the residual.
  bool is_continued() const { return options_.checkpoints && options_.checkpoints->has_state(); }

  enum class Carry { keep, restore };
  /// Keeps what the recurrence carries if a checkpoint is due, after `note` and before anything of
  /// the next iteration; or takes it from the checkpoint. The iterations so far, the residuals and
  /// the first norm are carried as well. `vectors`: as `carried`. Every thread.
  void collective_carry(const comm_thread::TeamThread& thread, Carry direction, Solve& solve,
                        const std::vector<double*>& scalars, std::vector<double*> vectors);
  /// True if a checkpoint of the iteration that has ended is due.
  bool is_checkpoint_due(const SolveReport& report) const;

  spmv::LinearOperator& op() const { return operator_; }
  const Options& options() const { return options_; }
  int width() const { return static_cast<int>(stops_.size()); }
  /// An array of `width` columns, of zeros; and where one of them begins.
  std::size_t start_of(int column) const { return static_cast<std::size_t>(column) * stride_; }
  Array make_array();
  MethodUse use() const { return use_of(operator_, options_); }
  /// One that takes no memory before it is written.
  Array make_untouched_array() {
    ++array_count_;
    return Array(operator_.element_count());
  }
  std::unique_ptr<spmv::Operand> collective_make_operand() {
    ++array_count_;
    return operator_.collective_make_operand();
  }
  /// Of `count` numbers.
  comm_thread::ReproducibleSum collective_make_sum(int count) const {
    return {operator_.communicator(), operator_.comm_thread(), operator_.team().thread_count(),
            count};
  }
  void collective_reduce(const comm_thread::TeamThread& thread, comm_thread::ReproducibleSum& sum) {
    const perfmodel::PhaseScope scope(timer_, thread.index, perfmodel::Phase::reduction);
    sum.collective_reduce(thread);
  }
  /// y = A·x, as LinearOperator::apply.
  void collective_multiply(const comm_thread::TeamThread& thread, spmv::Operand& x, double* y,
                           spmv::RowSum x_dot_y = {}) {
    operator_.apply(thread, options_.mode, x, y, timer_, x_dot_y);
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

  /// The stop test: notes that the last of the iterations ended with ‖r‖ = `norm`, and in the
  /// status whether the solve ends there. A norm that is not finite is a breakdown.
  void note(const comm_thread::TeamThread& thread, double norm, Solve& solve) const;

  /// Tells the operator how many products are to come, once.
  void forecast_products(const comm_thread::TeamThread& thread, double norm,
                         const Solve& solve) const;

  /// Ends a solve that has stalled, see Options::patience.
  void watch_progress(double norm, Solve& solve) const;

  /// The reduction of single numbers: for FittedSums, and for norms outside the fused sums.
  comm_thread::ReproducibleSum& extra_sum() { return squares_; }

  /// Brings the current iterate to x_, where it is in `other`, the second array of `iterates`; then
  /// the other one is in `other`. Thread: every thread of the team, for its own rows.
  void settle(const comm_thread::TeamThread& thread, LeastIterate& iterates, double* other);
  /// The same of the least iterate, where the solve ends as a breakdown or diverged: its residual
  /// becomes that of the report.
  void settle_at_end(const comm_thread::TeamThread& thread, LeastIterate& iterates, double* other,
                     Solve& solve);

  /// Begins again from the true residual b − A·x. Every thread.
  void collective_begin_again(const comm_thread::TeamThread& thread, const Solve& solve) {
    collective_multiply_solutions(thread, timer_);
    collective_begin(thread, solve, spare().product);
  }

  Array x_;
  perfmodel::PhaseTimer timer_;

 private:
  const double* product_of(const Solve& solve) {
    double* const product = spare().product;
    return product ? product + start_of(solve.column) : nullptr;
  }
  /// For each column an upper bound of the square of b − product that is the same on any ranks and
  /// threads; 0 only where all is zero. Without the products where not `has_products`. Every
  /// thread.
  void collective_bound_squares(const comm_thread::TeamThread& thread, Solves solves,
                                bool has_products);
  /// ‖b − product‖, to the `true_norm` of each column, and its bound. As above.
  void collective_find_norms(const comm_thread::TeamThread& thread, Solves solves,
                             bool has_products);
  void collective_solve(const comm_thread::TeamThread& thread, Solves solves);
  void collective_solve_from(const comm_thread::TeamThread& thread, Solves solves,
                             std::span<const std::span<const double>> guesses);
  /// Continues from the checkpoint.
  void collective_continue(const comm_thread::TeamThread& thread, Solves solves);
  void collective_iterate_running(const comm_thread::TeamThread& thread, Solves solves);
  void collective_open_checkpoints(std::span<const double> b);
  void collective_verify(const comm_thread::TeamThread& thread, Solves solves);

  spmv::LinearOperator& operator_;
  Options options_;
  double array_count_ = 0;
  const DiagonalPreconditioner* diagonal_ = nullptr;
  std::vector<StopCriterion> stops_;  // [width]
  std::size_t stride_;  // from one column to the next
  comm_thread::ReproducibleSum squares_;  // [width] of what is not iterated
  std::vector<double> largest_;  // [threads] magnitude that each found
  std::vector<double> bounds_;  // [width]
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
