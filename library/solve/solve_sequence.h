#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "library/solve/chosen_solver.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/krylov/method.h"
#include "solver/recycle/guess_plan.h"
#include "solver/recycle/set_up_plan.h"
#include "solver/recycle/solution_space.h"
#include "solver/report/solve_report.h"

namespace weft::library {

/// A solver for one system after another, each of which may profit from those before: first guesses
/// from the last solutions, and preconditioners with levels that are kept for new values of the
/// matrix as long as that is predicted to cost least.
///
/// Everything is decided by iterations and counted costs, so that bits depend on neither ranks nor
/// threads. Where the matrix is not solved with as it was given (ChosenSolver::plain_matrix), there
/// are no guesses, and nothing is kept.
/// Functions are collective. Thread: the main thread, outside the team. Lifetime: `solver` outlives
/// it.
class SolveSequence {
 public:
  explicit SolveSequence(ChosenSolver& solver);

  /// What has become of the matrix since the last call.
  struct Change {
    bool has_new_values = false;
    bool has_other_places = false;
    bool must_make = false;  // somebody asks for a new set-up
  };
  /// Before a solve. Throws comm_thread::InputError as ChosenSolver::collective_renew.
  void collective_prepare(const Change& change);

  /// As ChosenSolver::collective_solve; the solution is that of the solver. Where a kept
  /// preconditioner fails, solves again with a new one; the iterations are those of both.
  solver::SolveReport collective_solve(std::span<const double> b, const solver::Guess& guess);

  /// To be called by the hook of this name of the solver. Thread: the primary thread.
  void note_iteration(std::int64_t iteration, double residual) {
    if (iteration == 1) first_residual_ = residual;
  }

  /// What a solve learns from those before, beside the matrix and the preconditioner: numbers, and
  /// vectors, of which there are as many as the numbers say. Shape: each [element_count].
  std::vector<double> numbers();
  std::vector<double*> collective_vectors();
  /// Takes numbers of another sequence, whose matrix and preconditioner have the values of those
  /// that there are; its vectors are those of `collective_vectors` then. False, and nothing done,
  /// where the numbers are not as many.
  bool collective_take(std::span<const double> numbers);

  solver::SetUp set_up() const { return done_; }  // for the last solve
  int guess_vectors() const { return guess_vectors_; }  // earlier solutions in its guess

 private:
  template <class Carry>
  void for_each_number(const Carry& carry);
  void make_space();
  void collective_renew(solver::SetUp what, double spread);
  void collective_renewed(solver::SetUp what, double spread);
  void collective_note_set_up();
  void note_sizes();
  solver::SetUpPlan::Costs costs() const;
  void measure_rows(std::vector<double>& sizes, std::vector<std::array<double, 2>>* ratios) const;
  double collective_find_spread();
  solver::Guess collective_guess(std::span<const double> b, const solver::Guess& guess);
  void collective_note(std::span<const double> b, const solver::SolveReport& report);

  ChosenSolver& solver_;
  spmv::SparseOperator* matrix_ = nullptr;  // null: nothing is recycled
  solver::Preconditioner* preconditioner_ = nullptr;  // that of the solver when it was set up
  std::optional<solver::SolutionSpace> space_;
  solver::GuessPlan guess_plan_;
  solver::SetUpPlan set_up_plan_;
  bool has_levels_ = false;  // of a preconditioner that may be kept
  bool has_solved_ = false;
  bool is_stale_ = false;  // the matrix has other values than the preconditioner
  bool has_turned_ = false;  // the solver, to another preconditioner in the last solve
  double product_bytes_ = 0;  // of all ranks
  double level_entries_ = 0;  // of the preconditioner
  double iteration_bytes_ = 0;
  std::vector<double> sizes_;  // of the rows as the preconditioner has them
  std::vector<double> new_sizes_;
  bool has_new_sizes_ = false;  // those of the matrix as it is
  perfmodel::HugePageBuffer<double> start_;
  double digits_of_iteration_ = 0;  // of the last solve of several
  double first_residual_ = 0;  // after the first iteration of the last solve
  solver::SetUp done_ = solver::SetUp::made;
  int guess_vectors_ = 0;
};

}  // namespace weft::library
