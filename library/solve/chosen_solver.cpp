#include "library/solve/chosen_solver.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "comm_thread/placement/compute_team.h"
#include "library/settings/method_choice.h"
#include "library/solve/hopeless_system.h"
#include "library/solve/row_residual.h"
#include "library/solve/symmetry_check.h"
#include "library/solve/value_range.h"
#include "solver/methods/deflated_solve.h"
#include "solver/methods/iteration_forecast.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using comm_thread::option_name;
using comm_thread::TeamThread;
using solver::Candidate;
using solver::SolveReport;
using solver::SolveStatus;

/// Iterations without progress after which another way is tried.
constexpr std::int64_t patience_with_a_choice = 300;
/// Rows of a matrix with a known grid from which timed trials, of multigrid too, are worth their
/// time: 20³ points took 194 ms with and 3 ms without.
constexpr std::int64_t least_rows_for_trials = 27000;

std::string name_of(const Candidate& way) {
  return fmt::format("{} with preconditioner {}", way.method, way.preconditioner);
}

bool is_same(const Candidate& a, const Candidate& b) {
  return a.method == b.method && a.preconditioner == b.preconditioner;
}

}  // namespace

ChosenSolver::ChosenSolver(spmv::LinearOperator& op, SolveSettings settings, SystemContext context,
                           SolveHooks hooks)
    : asked_(std::move(settings)),
      context_(std::move(context)),
      hooks_(std::move(hooks)),
      range_(op),
      rows_(asked_, context_, hooks_.checkpoints == nullptr),
      watch_(op.communicator(), hooks_, asked_.max_seconds),
      way_in_use_(context_, hooks_, watch_),
      blocks_(watch_) {
  collective_look();
  collective_take_way();
}

// What is solved.

void ChosenSolver::collective_look() {
  ways_.clear();  // where an error ends this, the next solve looks again
  rows_.forget();
  range_.collective_look(!context_.collective_make_preconditioner);
  auto* const matrix = dynamic_cast<spmv::SparseOperator*>(&op());
  may_block_ = BlockSolver::collective_pays(op());
  const std::string& word = asked_.null_space;
  if (!matrix && !word.empty() && word != "none")
    throw InputError(option_name("null-space") +
                     ": found an operator without a matrix; expected a matrix");
  traits_.reset();
  if (matrix) traits_ = collective_find_given_traits(*matrix, context_.collective_given_row);
  is_free_ = traits_ && asked_.method == "auto" && !asked_.has_preconditioner && !may_try_grid() &&
             !context_.collective_make_preconditioner;
  if (traits_) rows_.collective_look(*matrix, *traits_);
  if (rows_.has_copy()) traits_->grid.reset();  // its couplings jump from point to point
  std::vector<Candidate> ways = find_ways();
  null_space_.reset();
  null_space_text_.clear();
  if (traits_) collective_find_null_space(*matrix);
  ways_ = std::move(ways);
  way_ = 0;
}

bool ChosenSolver::may_try_grid() const {
  return asked_.may_choose_multigrid() && is_symmetric() &&
         range_.op().global_row_count() > least_rows_for_trials &&
         (context_.problem.has_grid() || !asked_.grid.empty());
}

void ChosenSolver::collective_find_null_space(spmv::SparseOperator& matrix) {
  const std::string& word = asked_.null_space;
  if (word == "none" || (word.empty() && !traits_->has_constant_null_space())) return;
  null_space_text_ =
      word.empty() ? "constant, because the matrix is an M-matrix whose rows all add up to zero"
                   : word;
  std::vector<double> vector;
  if (!word.empty() && word != "constant") {
    if (!context_.collective_read)
      throw InputError(option_name("null-space") + ": found the file " + word +
                       "; expected constant or none");
    vector = context_.collective_read(word);
  }
  try {
    null_space_ = std::make_unique<solver::NullSpace>(matrix, vector);
  } catch (const InputError& error) {
    throw InputError(option_name("null-space", word) + ": " + error.what());
  }
}

/// With all that refers to the scaled matrix.
void ChosenSolver::forget_scaled() {
  forget_methods();
  way_in_use_.forget();
  rows_.forget();
}

void ChosenSolver::forget_methods() {
  way_in_use_.forget_method();
  blocks_.forget();
}

WayInUse::System ChosenSolver::system_of_methods() {
  if (rows_.is_scaled())
    return {.op = rows_.scaled().op(),
            .null_space = null_space_.get(),
            .constant = rows_.scaled().constant()};
  return {.op = op(), .null_space = null_space_.get()};
}

void ChosenSolver::collective_precondition(std::span<const double> r, std::span<double> z) {
  collective_make_ready();
  solver::Preconditioner* const preconditioner = way_in_use_.preconditioner();
  if (!preconditioner) {
    std::ranges::copy(r, z.begin());
    return;
  }
  Array from(r.size());
  Array to(r.size());
  if (rows_.is_scaled())
    rows_.scaled().scale_residual(r, from.span());
  else
    std::ranges::copy(r, from.data());
  preconditioner->begin_solve();  // r has a magnitude of its own
  op().team().run(
      [&](const TeamThread& thread) { preconditioner->apply(thread, from.data(), to.data()); });
  if (rows_.is_scaled())
    rows_.scaled().scale_solution(to.span(), z);
  else
    std::ranges::copy(to.span(), z.begin());
  library::scale(op(), range_.exponent(), z, z);
}

// Which way is used.

std::vector<Candidate> ChosenSolver::find_ways() const {
  if (is_free_) return solver::candidates(*traits_, {.has_amg = true});
  if (asked_.method == "auto" && !is_symmetric() && !asked_.force)
    return {solver::unsymmetric_candidate(asked_.preconditioner)};
  if (traits_) check_symmetry(asked_, *traits_, context_.name);
  return {{asked_.method, asked_.preconditioner, ""}};
}

SolveSettings ChosenSolver::settings_of(const Candidate& way) const {
  SolveSettings settings = asked_;
  settings.method = way.method;
  settings.scale = rows_.has_copy() ? "rows" : "none";
  settings.preconditioner = way.preconditioner;
  if (is_free_ && way.preconditioner == "multigrid" && !context_.problem.has_grid()) {
    const spmv::GridSize& grid = *traits_->grid;
    settings.grid = fmt::format("{}x{}x{}", grid.x, grid.y, grid.z);
  }
  return settings;
}

/// Where another way is left, one that gains too little is given up.
IterationWatch::Limits ChosenSolver::limits_of(const Candidate& way) const {
  IterationWatch::Limits limits;
  if (is_last_way()) return limits;
  limits.patience = patience_with_a_choice;
  if (is_free_ && way.preconditioner == "multigrid" && traits_->grid)
    limits.forecast = solver::forecast_iterations(true, stencil_of(*traits_->grid), asked_.stop);
  return limits;
}

void ChosenSolver::collective_take_way() {
  if (rows_.is_scaled() && decisions_.empty()) decisions_.push_back(rows_.decision());
  for (;; ++way_) {
    const Candidate& way = ways_[way_];
    if (is_free_ || !way.reason.empty())
      decisions_.push_back(way_ == 0 ? name_of(way) + ": " + way.reason
                                     : "turned to " + name_of(way));
    way_in_use_.forget_choice();
    blocks_.forget();
    try {
      collective_set_up_way();
      return;
    } catch (const InputError& error) {
      if (is_last_way()) throw;
      decisions_.emplace_back(error.what());
    }
  }
}

void ChosenSolver::collective_set_up_way() {
  const Candidate& way = ways_[way_];
  way_in_use_.collective_set_up(system_of_methods(), settings_of(way), limits_of(way));
  const std::string& found = way_in_use_.found();
  if (!found.empty() && std::ranges::find(decisions_, found) == decisions_.end())
    decisions_.push_back(found);
}

/// To the next way, for that reason.
void ChosenSolver::collective_turn(std::string reason) {
  decisions_.push_back(std::move(reason));
  ++way_;
  collective_take_way();
}

void ChosenSolver::collective_make_ready() {
  if (way_in_use_.has_method()) return;
  // An earlier solve or renewal has ended in an error.
  if (ways_.empty()) {
    forget_scaled();
    collective_look();
  }
  way_ = 0;
  collective_take_way();
}

void ChosenSolver::collective_renew(bool keeps_pattern) {
  const std::vector<Candidate> before = ways_;
  const std::size_t way_before = way_;
  const bool was_ready = way_in_use_.has_method();
  std::unique_ptr<solver::KrylovMethod> method;  // that may stay
  if (rows_.is_scaled()) forget_scaled();
  if (keeps_pattern && !null_space_ && !scales_matrix()) method = way_in_use_.take_method();
  forget_methods();  // where an error ends this, the next solve sets all up
  if (scales_matrix()) {  // nothing refers to the matrix that goes
    null_space_.reset();
    way_in_use_.forget();
  }
  collective_look();
  if (rows_.is_scaled() || scales_matrix()) {  // nothing that is there is of this matrix
    keeps_pattern = false;
    method.reset();
  }
  if (was_ready && std::ranges::equal(before, ways_, is_same)) {
    way_ = way_before;
    collective_set_up_again(keeps_pattern, std::move(method));
    return;
  }
  method.reset();
  decisions_.clear();
  way_in_use_.forget_choice();
  collective_take_way();
}

/// The way that was in use, for other values. `method`: what may stay of it; null: nothing.
void ChosenSolver::collective_set_up_again(bool keeps_pattern,
                                           std::unique_ptr<solver::KrylovMethod> method) {
  const Candidate& way = ways_[way_];
  try {
    const bool has_adapted = keeps_pattern && way_in_use_.collective_take_new_values();
    if (has_adapted && !null_space_ && method && method->collective_take_new_values()) {
      way_in_use_.keep_method(std::move(method));
      return;
    }
    method.reset();  // before what it refers to, and before other vectors
    if (has_adapted)
      way_in_use_.collective_make_method(system_of_methods(), limits_of(way));
    else
      collective_set_up_way();
  } catch (const InputError& error) {
    method.reset();
    if (is_last_way()) throw;
    collective_turn(error.what());
  }
}

// A solve.

bool ChosenSolver::is_final(const SolveReport& report, const std::string& unmendable) const {
  if (is_last_way() || !unmendable.empty() || report.status == SolveStatus::converged ||
      report.status == SolveStatus::stopped || report.status == SolveStatus::out_of_time)
    return true;
  if (report.status == SolveStatus::not_converged &&
      report.iterations >= asked_.stop.max_iterations)
    return true;
  // No other method leaves less of a b that has a part in the null space.
  return null_space_ && report.status == SolveStatus::not_converged &&
         asked_.stop.is_met(report.recurrence_residual, 1);
}

/// Where `auto` has failed: why all other ways would, too, in either norm in which a residual is to
/// be small; empty where one may not.
std::string ChosenSolver::collective_find_hopeless(const VectorsInRange& vectors,
                                                   const SolveReport& report) {
  auto* const matrix = dynamic_cast<spmv::SparseOperator*>(&op());
  const bool has_failed = report.status == SolveStatus::not_converged ||
                          report.status == SolveStatus::breakdown ||
                          report.status == SolveStatus::diverged;
  if (!matrix || !is_free_ || !has_failed || null_space_ || !vectors.unmendable().empty())
    return "";
  RowResidual residual(*matrix);
  FailedSolve solve{.op = *matrix,
                    .residual = residual,
                    .is_symmetric = is_symmetric(),
                    .b = vectors.b(),
                    .x = solution_of_way()};
  std::string why = library::collective_find_hopeless(solve, vectors.stop());
  if (why.empty() && rows_.is_scaled()) {
    solve.weights = rows_.weights();
    why = library::collective_find_hopeless(solve, vectors.stop());
  }
  return why.empty() || is_last_way() ? why : why + ": no other method is tried";
}

/// One solve by the way in use.
SolveReport ChosenSolver::collective_run_method(const VectorsInRange& vectors) {
  solver::KrylovMethod& method = way_in_use_.method();
  method.set_stop(vectors.stop());
  if (rows_.is_scaled())
    return rows_.collective_solve(method, watch_, vectors.stop(), vectors.b(), vectors.guess());
  watch_.begin_run();
  SolveReport report =
      null_space_ ? solver::collective_solve_deflated(method, *null_space_, is_symmetric(),
                                                      vectors.stop(), vectors.b(), vectors.guess())
                  : method.solve(vectors.b(), vectors.guess());
  watch_.judge_run(report);
  return report;
}

/// The same, with the way that a checkpoint is of.
SolveReport ChosenSolver::collective_run(const VectorsInRange& vectors) {
  while (true) {
    try {
      if (hooks_.on_start) hooks_.on_start();
      SolveReport report = collective_run_method(vectors);
      watch_.judge_time(report);
      return report;
    } catch (const InputError& error) {
      const bool has_checkpoint = hooks_.checkpoints && hooks_.checkpoints->has_state();
      if (!has_checkpoint || is_last_way()) throw;
      collective_turn(error.what());
    }
  }
}

SolveReport ChosenSolver::collective_solve(std::span<const double> b, const solver::Guess& guess) {
  collective_make_ready();
  const VectorsInRange vectors(range_, b, guess, asked_.stop);
  is_scaled_back_ = vectors.scales_solution();
  SolveReport report = collective_solve_in_range(vectors);
  if (is_scaled_back_ && scaled_back_.size() == 0) scaled_back_ = Array(op().element_count());
  vectors.collective_scale_back(
      found_solution(), is_scaled_back_ ? scaled_back_.span() : std::span<double>{}, report);
  return report;
}

SolveReport ChosenSolver::collective_solve_in_range(const VectorsInRange& vectors) {
  least_.clear();
  watch_.start_time();
  while (true) {
    collective_make_ready();
    if (vectors.guess() && entry().needs_grid)
      throw InputError("initial guess: found " + option_name("method", entry().name) +
                       "; expected another method, which may have " +
                       option_name("preconditioner", "multigrid"));
    SolveReport report = collective_run(vectors);
    const std::string why = collective_find_hopeless(vectors, report);
    if (!why.empty()) report.explanation += (report.explanation.empty() ? "" : "; ") + why;
    if (!why.empty() || is_final(report, vectors.unmendable())) {
      rows_.collective_judge(vectors.b(), solution_of_way(), vectors.stop(), report);
      const std::string kept = least_.take_place_in(report);
      if (!kept.empty()) decisions_.push_back(kept);
      return report;
    }
    least_.offer(solution_of_way(), report, name_of(ways_[way_]));
    collective_turn(fmt::format("after {} iterations the residual was {:.1e}{}", report.iterations,
                                report.relative_residual,
                                report.explanation.empty() ? "" : ": " + report.explanation));
  }
}

bool ChosenSolver::may_solve_block() const {
  return may_block_ && !rows_.is_scaled() && is_last_way() && !null_space_ &&
         !watch_.has_time_limit() && way_in_use_.has_method() && entry().has_blocks;
}

/// For all of `b`, which is 8, 4 or 2 vectors.
void ChosenSolver::collective_solve_at_once(std::span<const std::span<const double>> b,
                                            std::span<const std::span<const double>> guesses,
                                            std::span<const std::span<double>> x,
                                            std::vector<SolveReport>& reports) {
  std::deque<VectorsInRange> vectors;
  for (std::size_t i = 0; i < b.size(); ++i)
    vectors.emplace_back(range_, b[i], guesses.empty() ? std::nullopt : solver::Guess(guesses[i]),
                         asked_.stop);
  auto& matrix = dynamic_cast<spmv::SparseOperator&>(op());
  if (hooks_.on_start) hooks_.on_start();
  std::vector<SolveReport> solved =
      blocks_.collective_solve(matrix, way_in_use_.options(), vectors);
  for (std::size_t i = 0; i < b.size(); ++i) {
    const std::span<const double> y = blocks_.solution(b.size(), i);
    rows_.collective_judge(vectors[i].b(), y, vectors[i].stop(), solved[i]);
    if (!vectors[i].scales_solution()) std::ranges::copy(y, x[i].begin());
    vectors[i].collective_scale_back(y, x[i], solved[i]);
    reports.push_back(std::move(solved[i]));
  }
}

std::vector<SolveReport> ChosenSolver::collective_solve_block(
    std::span<const std::span<const double>> b, std::span<const std::span<const double>> guesses,
    std::span<const std::span<double>> x, bool may_block, const OnVectorIteration& on_iteration) {
  std::vector<SolveReport> reports;
  const IterationWatch::VectorScope scope(watch_, on_iteration);
  while (reports.size() < b.size()) {
    const std::size_t first = reports.size();
    collective_make_ready();
    const std::size_t count =
        may_block && may_solve_block() ? BlockSolver::width(b.size() - first) : 1;
    watch_.set_first_vector(first);
    if (count > 1) {
      collective_solve_at_once(b.subspan(first, count),
                               guesses.empty() ? guesses : guesses.subspan(first, count),
                               x.subspan(first, count), reports);
      continue;
    }
    reports.push_back(
        collective_solve(b[first], guesses.empty() ? std::nullopt : solver::Guess(guesses[first])));
    std::ranges::copy(solution(), x[first].begin());
  }
  return reports;
}

}  // namespace weft::library
