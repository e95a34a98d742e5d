#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "library/options/solve_settings.h"
#include "library/solve/attempt.h"
#include "library/solve/least_solution.h"
#include "library/solve/solvable_system.h"
#include "library/solve/solve_context.h"
#include "library/solve/solve_limits.h"
#include "library/solve/vectors_in_range.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/choice/decision_table.h"
#include "solver/krylov/method.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/preconditioner.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "solver/report/solve_report.h"
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

  /// Number of the way in use, from 0.
  std::size_t way() const { return way_; }
  /// Turns to the next ways up to that one, or to the last.
  void collective_turn_to(std::size_t way);

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
  std::size_t first_vector() const { return limits_.first_vector(); }

  /// z = M·r with the preconditioner alone; z = r without one. Shape: [element_count].
  void collective_precondition(std::span<const double> r, std::span<double> z);

  /// True where a multiple of the matrix is solved with, because its values are very large or very
  /// small: it knows nothing of new values before `collective_renew`.
  bool scales_matrix() const { return system_.is_multiple(); }

  /// The matrix where it is solved with as it was given: neither a multiple, nor scaled, nor
  /// singular with a null space to project out. Else null.
  spmv::SparseOperator* plain_matrix() const {
    const bool is_plain =
        !system_.is_multiple() && !system_.rows().is_scaled() && !system_.null_space();
    return is_plain ? system_.matrix() : nullptr;
  }
  bool is_symmetric() const { return system_.is_symmetric(); }

  /// What is solved with: `method` and `preconditioner` are those that were chosen, but `auto`
  /// where a trial chose.
  const SolveSettings& settings() const { return attempt_.settings(); }
  const solver::KrylovEntry& entry() const { return attempt_.entry(); }
  solver::KrylovMethod& method() { return attempt_.method(); }
  const solver::KrylovMethod::Options& method_options() const { return attempt_.options(); }
  solver::Preconditioner* preconditioner() const { return attempt_.preconditioner(); }  // or null
  bool has_preconditioner_of_caller() const {
    return context_.collective_make_preconditioner != nullptr;
  }
  const solver::SchwarzPreconditioner* schwarz() const { return attempt_.schwarz(); }
  double preconditioner_seconds() const { return attempt_.preconditioner_seconds(); }
  /// How many preconditioners have been made, where new values do not count that one has taken.
  std::int64_t made_count() const { return attempt_.made_count(); }

  /// What was tried and why, in lines, where the decision table chose.
  const std::vector<std::string>& decisions() const { return decisions_; }
  bool has_chosen() const { return is_free_; }
  /// Why this variant of CG, where a trial chose.
  const std::string& method_choice() const { return attempt_.why(); }
  bool is_scaled() const { return system_.rows().is_scaled(); }
  /// What is projected out; empty: nothing.
  const std::string& null_space() const { return system_.null_space_text(); }

 private:
  // The ways that there are, and the one in use.
  void collective_look();
  bool is_free_to_choose() const;
  std::vector<solver::Candidate> find_ways() const;
  bool is_last_way() const { return way_ + 1 == ways_.size(); }
  SolveSettings settings_of_way() const;
  SolveLimits::OfMethod limits_of_way() const;
  void collective_take_way();
  void note_found();
  void collective_turn(std::string reason);

  // A solve.
  solver::SolveReport collective_solve_one(std::span<const double> b, const solver::Guess& guess);
  solver::SolveReport collective_solve_in_range(const VectorsInRange& vectors);
  solver::SolveReport collective_attempt(const VectorsInRange& vectors);
  bool is_final(const solver::SolveReport& report) const;
  std::string collective_find_hopeless(const VectorsInRange& vectors,
                                       const solver::SolveReport& report);
  void collective_solve_at_once(std::span<const std::span<const double>> b,
                                std::span<const std::span<const double>> guesses,
                                std::span<const std::span<double>> x,
                                std::vector<solver::SolveReport>& reports);
  std::span<const double> found_solution() const {
    return least_.is_kept() ? least_.x() : attempt_.solution();
  }

  SolveSettings asked_;
  SystemContext context_;
  SolveHooks hooks_;
  SolvableSystem system_;
  SolveLimits limits_;
  bool is_free_ = false;  // the decision table chooses
  std::vector<solver::Candidate> ways_;  // empty: the system is to be looked at again
  std::size_t way_ = 0;
  std::vector<std::string> decisions_;
  Attempt attempt_;  // with that way
  LeastSolution least_;  // of the ways of a solve
  perfmodel::HugePageBuffer<double> scaled_back_;  // the solution where `is_scaled_back_`
  bool is_scaled_back_ = false;
};

}  // namespace weft::library
