#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "library/options/solve_settings.h"
#include "library/solve/block_solver.h"
#include "library/solve/iteration_watch.h"
#include "library/solve/least_solution.h"
#include "library/solve/row_scaling.h"
#include "library/solve/solve_hooks.h"
#include "library/solve/system_context.h"
#include "library/solve/system_in_range.h"
#include "library/solve/way_in_use.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/choice/decision_table.h"
#include "solver/choice/matrix_traits.h"
#include "solver/krylov/method.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/null_space.h"
#include "solver/precondition/preconditioner.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "solver/report/solve_report.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/linear_operator.h"

namespace weft::library {

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
  std::size_t first_vector() const { return watch_.first_vector(); }

  /// z = M·r with the preconditioner alone; z = r without one. Shape: [element_count].
  void collective_precondition(std::span<const double> r, std::span<double> z);

  /// True where a multiple of the matrix is solved with, because its values are very large or very
  /// small: it knows nothing of new values before `collective_renew`. The preconditioner is one of
  /// 2^matrix_exponent() times the matrix.
  bool scales_matrix() const { return range_.has_copy(); }
  int matrix_exponent() const { return range_.exponent(); }

  /// What is solved with: `method` and `preconditioner` are those that were chosen, but `auto`
  /// where a trial chose.
  const SolveSettings& settings() const { return way_in_use_.settings(); }
  const solver::KrylovEntry& entry() const { return way_in_use_.entry(); }
  solver::KrylovMethod& method() { return way_in_use_.method(); }
  const solver::KrylovMethod::Options& method_options() const { return way_in_use_.options(); }
  solver::Preconditioner* preconditioner() const {
    return way_in_use_.preconditioner();
  }  // or null
  bool has_preconditioner_of_caller() const {
    return context_.collective_make_preconditioner != nullptr;
  }
  const solver::SchwarzPreconditioner* schwarz() const { return way_in_use_.schwarz(); }
  double preconditioner_seconds() const { return way_in_use_.preconditioner_seconds(); }

  /// What was tried and why, in lines, where the decision table chose.
  const std::vector<std::string>& decisions() const { return decisions_; }
  bool has_chosen() const { return is_free_; }
  /// Why this variant of CG, where a trial chose.
  const std::string& method_choice() const { return way_in_use_.why(); }
  bool is_scaled() const { return rows_.is_scaled(); }
  /// What is projected out; empty: nothing.
  const std::string& null_space() const { return null_space_text_; }

 private:
  using Array = perfmodel::HugePageBuffer<double>;

  // What is solved.
  void collective_look();
  void collective_find_null_space(spmv::SparseOperator& matrix);
  void forget_scaled();
  void forget_methods();
  bool may_try_grid() const;
  bool is_symmetric() const { return !traits_ || traits_->is_symmetric(); }
  spmv::LinearOperator& op() { return range_.op(); }
  WayInUse::System system_of_methods();

  // Which way is used.
  std::vector<solver::Candidate> find_ways() const;
  bool is_last_way() const { return way_ + 1 == ways_.size(); }
  SolveSettings settings_of(const solver::Candidate& way) const;
  IterationWatch::Limits limits_of(const solver::Candidate& way) const;
  void collective_take_way();
  void collective_set_up_way();
  void collective_turn(std::string reason);
  void collective_set_up_again(bool keeps_pattern, std::unique_ptr<solver::KrylovMethod> method);

  // A solve.
  solver::SolveReport collective_solve_in_range(const VectorsInRange& vectors);
  solver::SolveReport collective_run(const VectorsInRange& vectors);
  solver::SolveReport collective_run_method(const VectorsInRange& vectors);
  bool is_final(const solver::SolveReport& report, const std::string& unmendable) const;
  std::string collective_find_hopeless(const VectorsInRange& vectors,
                                       const solver::SolveReport& report);
  bool may_solve_block() const;
  void collective_solve_at_once(std::span<const std::span<const double>> b,
                                std::span<const std::span<const double>> guesses,
                                std::span<const std::span<double>> x,
                                std::vector<solver::SolveReport>& reports);
  std::span<const double> solution_of_way() const {
    return rows_.is_scaled() ? rows_.scaled().solution() : way_in_use_.method().solution();
  }
  std::span<const double> found_solution() const {
    return least_.is_kept() ? least_.x() : solution_of_way();
  }

  SolveSettings asked_;
  SystemContext context_;
  SolveHooks hooks_;
  SystemInRange range_;
  std::optional<solver::MatrixTraits> traits_;  // where somebody needs them
  RowScaling rows_;
  std::unique_ptr<solver::NullSpace> null_space_;  // null: none is known
  std::string null_space_text_;
  IterationWatch watch_;

  bool is_free_ = false;  // the decision table chooses
  std::vector<solver::Candidate> ways_;  // empty: the matrix is to be looked at again
  std::size_t way_ = 0;
  std::vector<std::string> decisions_;
  WayInUse way_in_use_;

  bool may_block_ = false;  // reading the matrix once for several vectors pays; on all ranks
  BlockSolver blocks_;

  LeastSolution least_;  // of the ways of a solve
  Array scaled_back_;  // the solution where `is_scaled_back_`, else of no use
  bool is_scaled_back_ = false;
};

}  // namespace weft::library
