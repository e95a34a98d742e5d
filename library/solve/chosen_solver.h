#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "library/settings/method_choice.h"
#include "library/settings/solve_settings.h"
#include "library/solve/least_solution.h"
#include "library/solve/row_residual.h"
#include "library/solve/scaled_system.h"
#include "library/solve/symmetry_check.h"
#include "library/solve/time_limit.h"
#include "library/solve/value_range.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/choice/decision_table.h"
#include "solver/choice/matrix_traits.h"
#include "solver/choice/row_scales.h"
#include "solver/krylov/block_cg.h"
#include "solver/krylov/method.h"
#include "solver/krylov/stop_criterion.h"
#include "solver/precondition/null_space.h"
#include "solver/precondition/preconditioner.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "solver/report/solve_report.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/problems/problem.h"

namespace weft::library {

/// What a solver is told about a linear system besides its operator.
struct SystemContext {
  std::string name{};  // begins messages; empty: none
  spmv::Problem problem{};  // the operator's, for its grid; a file where nothing is known
  /// This rank's part of a vector from a file, in the layout of the operator; null: there are no
  /// files. Collective. Throws comm_thread::InputError.
  std::function<std::vector<double>(const std::string& path)> collective_read{};
  CollectiveGivenRow collective_given_row{};  // null: rows are numbered as given
  /// Makes the preconditioner of a caller, in the place of that of the settings. Collective.
  std::function<std::unique_ptr<solver::Preconditioner>()> collective_make_preconditioner{};
};

/// Called at stages of a solve, by the main thread where nothing else is said. Each may be null.
struct SolveHooks {
  /// Before the preconditioner and the method of `settings` are made.
  std::function<void(const SolveSettings& settings)> on_set_up{};
  std::function<void(double bytes)> on_forecast{};  // as in SchwarzOptions; may throw InputError
  std::function<void()> on_start{};  // before a method iterates
  /// As in KrylovMethod::Options, by the primary thread.
  std::function<void(std::int64_t iteration, double residual)> on_iteration{};
  std::function<bool(std::int64_t iteration, double residual)> stops{};
  /// As in KrylovMethod::Options. Of the ways that may be tried, the one that a checkpoint is of
  /// continues from it.
  solver::Checkpoints* checkpoints = nullptr;
};

/// As KrylovMethod::Options::on_iteration, for one of several right-hand sides.
using OnVectorIteration =
    std::function<void(std::size_t vector, std::int64_t iteration, double residual)>;

/// A method with its preconditioner, chosen as the settings ask for and set up once for any number
/// of solves; what is known to be the null space of the matrix is projected out.
///
/// `method=auto` without a preconditioner takes, for a matrix, the ways of the decision table in
/// turn: where one refuses the matrix, breaks down, stalls or falls behind its forecast, the next,
/// which later solves keep. Of ways that have not converged, the x with the least residual is kept.
/// No way is tried after the last of StopCriterion::max_iterations, nor where none can help: for
/// values that are not finite.
/// With a preconditioner, or without a matrix, a short trial finds the quickest variant of CG.
///
/// Where rows of the matrix differ in scale, `auto` solves a scaled system (ScaledSystem). A solve
/// with a named method whose residual says nothing about most rows has not converged, and says so.
/// Functions are collective. Thread: the main thread, outside the team. Lifetime: `op` and what the
/// hooks refer to outlive it.
class ChosenSolver {
 public:
  /// Looks at the matrix, chooses and sets up. `settings`: checked. Throws comm_thread::InputError
  /// on every rank, where the matrix is refused.
  ChosenSolver(spmv::LinearOperator& op, SolveSettings settings, SystemContext context,
               SolveHooks hooks = {});

  /// Looks at new values of the matrix and sets up again. `keeps_pattern`: a preconditioner that
  /// can keep what it made of the matrix's pattern does. Throws comm_thread::InputError.
  void collective_renew(bool keeps_pattern);

  /// Sets up again where an error has ended an earlier solve or renewal; else does nothing. Throws
  /// comm_thread::InputError where all ways refuse the matrix.
  void collective_make_ready();

  /// Solves A·x = b from `guess`. Shape: b: [element_count].
  /// Throws comm_thread::InputError where all ways refuse the matrix, or the method takes no guess.
  solver::SolveReport collective_solve(std::span<const double> b,
                                       const solver::Guess& guess = std::nullopt);

  /// Solves for several right-hand sides: in blocks of 8, 4 and 2 where conjugate gradients can,
  /// else one after another; the bits and the iterations are those of `collective_solve`. Shape: b,
  /// guesses, x: [number of vectors] of [element_count]; `guesses` may be empty. `may_block`: false
  /// where somebody may stop a solve, on any rank, as blocks do not ask. `on_iteration`: in the
  /// place of that of the hooks; may be null.
  std::vector<solver::SolveReport> collective_solve_block(
      std::span<const std::span<const double>> b, std::span<const std::span<const double>> guesses,
      std::span<const std::span<double>> x, bool may_block, const OnVectorIteration& on_iteration);

  /// The last solution of `collective_solve`: where no way has converged, that of the least
  /// residual. Shape: [element_count].
  std::span<const double> solution() const {
    return is_scaled_back_ ? scaled_back_.span() : found_solution();
  }

  /// The first of the vectors of `collective_solve_block` that are being solved for; else 0.
  std::size_t first_vector() const { return first_vector_; }

  /// z = M·r with the preconditioner alone; z = r without one. Shape: [element_count].
  void collective_precondition(std::span<const double> r, std::span<double> z);

  /// True where a multiple of the matrix is solved with, because its values are very large or very
  /// small: it knows nothing of new values before `collective_renew`. The preconditioner is one of
  /// 2^matrix_exponent() times the matrix.
  bool scales_matrix() const { return scaled_op_.has_value(); }
  int matrix_exponent() const { return matrix_exponent_; }

  /// What is solved with: `method` and `preconditioner` are those that were chosen, but `auto`
  /// where a trial chose.
  const SolveSettings& settings() const { return settings_; }
  const solver::KrylovEntry& entry() const { return *choice_.method; }
  solver::KrylovMethod& method() { return *method_; }
  const solver::KrylovMethod::Options& method_options() const { return method_options_; }
  solver::Preconditioner* preconditioner() { return preconditioner_.get(); }  // null: none
  const solver::SchwarzPreconditioner* schwarz() const { return schwarz_; }  // null: another one
  double preconditioner_seconds() const { return preconditioner_seconds_; }  // to make it

  /// What was tried and why, in lines, where the decision table chose.
  const std::vector<std::string>& decisions() const { return decisions_; }
  bool has_chosen() const { return is_free_; }
  /// Why this variant of CG, where a trial chose.
  const std::string& method_choice() const { return choice_.why; }
  bool is_scaled() const { return scaled_ != nullptr; }
  /// What is projected out; empty: nothing.
  const std::string& null_space() const { return null_space_text_; }

 private:
  using Array = perfmodel::HugePageBuffer<double>;

  /// Exponents of powers of two by which vectors are multiplied while they are worked with.
  struct Scale {
    int b = 0;
    int x = 0;
    double largest = 0;  // magnitude of b then
  };
  Scale collective_scale_for(std::span<const double> b) const;
  solver::StopCriterion stop_for(const Scale& scale) const;
  /// 2^exponent·vector, in `room` where it is another.
  std::span<const double> scaled(std::span<const double> vector, int exponent, Array& room) const;
  /// Multiplies x by what it was divided by, and notes in the report what doubles cannot hold.
  void collective_scale_back(const Scale& scale, const std::string& unmendable,
                             std::span<const double> solved, std::span<double> x,
                             solver::SolveReport& report) const;
  /// Why no method can solve the system; empty where one may.
  std::string collective_find_unmendable(const Scale& scale, const solver::Guess& guess) const;
  solver::SolveReport collective_solve_in_range(std::span<const double> b,
                                                const solver::Guess& guess);
  std::span<const double> found_solution() const {
    return least_.is_kept() ? least_.x() : solution_of_way();
  }

  void collective_look();
  void collective_bring_matrix_into_range();
  std::vector<solver::Candidate> find_ways() const;
  std::string obstacle_to_scaling() const;
  void collective_scale(spmv::SparseOperator& matrix);
  solver::SolveReport collective_solve_watched(std::span<const double> b,
                                               const solver::Guess& guess);
  solver::SolveReport collective_solve_scaled(std::span<const double> b,
                                              const solver::Guess& guess);
  void collective_judge_rows(std::span<const double> b, std::span<const double> x,
                             solver::SolveReport& report);
  std::span<const double> solution_of_way() const {
    return scaled_ ? scaled_->solution() : method_->solution();
  }
  /// The operator that methods are made for.
  spmv::LinearOperator& worked_on() { return scaled_ ? scaled_->op() : op(); }
  void collective_find_null_space(spmv::SparseOperator& matrix);
  void collective_take_way();
  void collective_turn(std::string reason);
  void forget_scaled();
  void forget_methods();
  solver::SolveReport collective_run_method(std::span<const double> b, const solver::Guess& guess);
  void collective_set_up(const solver::Candidate& way);
  void collective_make_method();  // for the preconditioner that there is
  void collective_make_preconditioner();
  void choose_options();
  int block_width(std::size_t count) const;
  solver::BlockCg& collective_block_cg(int width);
  void watch_forecast();
  bool is_last_way() const { return way_ + 1 == ways_.size(); }
  bool is_final(const solver::SolveReport& report) const;
  bool is_symmetric() const { return !traits_ || traits_->is_symmetric(); }
  spmv::LinearOperator& op() {
    return scaled_op_ ? static_cast<spmv::LinearOperator&>(*scaled_op_) : given_op_;
  }
  const spmv::LinearOperator& op() const {
    return scaled_op_ ? static_cast<const spmv::LinearOperator&>(*scaled_op_) : given_op_;
  }

  spmv::LinearOperator& given_op_;
  SolveSettings asked_;
  SystemContext context_;
  SolveHooks hooks_;
  bool is_free_ = false;  // the decision table chooses
  bool may_block_ = false;  // reading the matrix once for several vectors pays; on all ranks
  std::optional<TimeLimit> limit_;
  std::optional<comm_thread::Communicator> space_;  // of the scaled operator
  std::optional<spmv::SparseOperator> scaled_op_;  // none: the given one is solved with
  int matrix_exponent_ = 0;
  bool is_matrix_finite_ = true;
  std::string unmendable_;  // why no method can solve the system of this solve; empty: one may
  solver::StopCriterion stop_;  // of this solve
  Array scaled_back_;  // the solution where `is_scaled_back_`, else of no use
  bool is_scaled_back_ = false;
  std::optional<solver::MatrixTraits> traits_;  // where somebody needs them
  std::optional<solver::RowScales> scales_;  // where rows differ in scale
  std::unique_ptr<ScaledSystem> scaled_;  // null: methods work on the given matrix
  std::unique_ptr<RowResidual> row_residual_;  // of the given matrix, once there was one
  std::unique_ptr<solver::NullSpace> null_space_;  // null: none is known
  std::string null_space_text_;
  std::vector<solver::Candidate> ways_;  // empty: the matrix is to be looked at again
  std::size_t way_ = 0;
  std::vector<std::string> decisions_;
  LeastSolution least_;  // of the ways of a solve

  SolveSettings settings_;
  std::unique_ptr<solver::Preconditioner> preconditioner_;
  const solver::SchwarzPreconditioner* schwarz_ = nullptr;
  double preconditioner_seconds_ = 0;
  std::unique_ptr<solver::DeflatedPreconditioner> deflated_;  // where the null space is known
  solver::KrylovMethod::Options method_options_;
  MethodChoice choice_{nullptr, ""};
  std::unique_ptr<solver::KrylovMethod> method_;
  std::map<int, std::unique_ptr<solver::BlockCg>> block_methods_;  // by width
  std::int64_t iterations_before_ = 0;  // of a scaled system, in the solve that goes on
  double residual_share_ = 1;  // of the first residual, which those have left
  bool is_asked_to_stop_ = false;  // by a hook or the time limit
  std::int64_t iteration_behind_ = 0;  // at which a method fell behind its forecast; 0: it has not
  std::size_t first_vector_ = 0;  // of the block that is being solved
  OnVectorIteration on_vector_iteration_;  // while a block is being solved
};

}  // namespace weft::library
