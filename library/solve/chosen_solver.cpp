#include "library/solve/chosen_solver.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "library/settings/method_choice.h"
#include "library/solve/hopeless_system.h"
#include "library/solve/row_residual.h"
#include "solver/methods/iteration_forecast.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using comm_thread::option_name;
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
      system_(op, asked_, context_, hooks_.checkpoints == nullptr),
      limits_(op.communicator(), hooks_, asked_.max_seconds),
      attempt_(system_, context_, hooks_, limits_) {
  collective_look();
  collective_take_way();
}

// The ways that there are, and the one in use.

void ChosenSolver::collective_look() {
  ways_.clear();  // where an error ends this, the next solve looks again
  system_.collective_look();
  is_free_ = is_free_to_choose();
  ways_ = find_ways();
  way_ = 0;
}

bool ChosenSolver::is_free_to_choose() const {
  if (!system_.traits() || asked_.method != "auto" || asked_.has_preconditioner ||
      has_preconditioner_of_caller())
    return false;
  const bool may_try_grid = asked_.may_choose_multigrid() && system_.is_symmetric() &&
                            system_.op().global_row_count() > least_rows_for_trials &&
                            (context_.problem.has_grid() || !asked_.grid.empty());
  return !may_try_grid;
}

std::vector<Candidate> ChosenSolver::find_ways() const {
  if (is_free_) return solver::candidates(*system_.traits(), {.has_amg = true});
  if (asked_.method == "auto" && !system_.is_symmetric() && !asked_.force)
    return {solver::unsymmetric_candidate(asked_.preconditioner)};
  return {{asked_.method, asked_.preconditioner, ""}};
}

SolveSettings ChosenSolver::settings_of_way() const {
  const Candidate& way = ways_[way_];
  SolveSettings settings = asked_;
  settings.method = way.method;
  settings.scale = system_.rows().has_copy() ? "rows" : "none";
  settings.preconditioner = way.preconditioner;
  if (is_free_ && way.preconditioner == "multigrid" && !context_.problem.has_grid()) {
    const spmv::GridSize& grid = *system_.traits()->grid;
    settings.grid = fmt::format("{}x{}x{}", grid.x, grid.y, grid.z);
  }
  return settings;
}

/// Where another way is left, one that gains too little is given up.
SolveLimits::OfMethod ChosenSolver::limits_of_way() const {
  SolveLimits::OfMethod limits;
  if (is_last_way()) return limits;
  limits.patience = patience_with_a_choice;
  if (is_free_ && ways_[way_].preconditioner == "multigrid" && system_.traits()->grid)
    limits.forecast =
        solver::forecast_iterations(true, stencil_of(*system_.traits()->grid), asked_.stop);
  return limits;
}

void ChosenSolver::collective_take_way() {
  if (is_scaled() && decisions_.empty()) decisions_.push_back(system_.rows().decision());
  for (;; ++way_) {
    const Candidate& way = ways_[way_];
    if (is_free_ || !way.reason.empty())
      decisions_.push_back(way_ == 0 ? name_of(way) + ": " + way.reason
                                     : "turned to " + name_of(way));
    try {
      attempt_.collective_set_up(settings_of_way(), limits_of_way());
      note_found();
      return;
    } catch (const InputError& error) {
      if (is_last_way()) throw;
      decisions_.emplace_back(error.what());
    }
  }
}

/// Says what the preconditioner has found in the matrix.
void ChosenSolver::note_found() {
  const std::string& found = attempt_.found();
  if (!found.empty() && std::ranges::find(decisions_, found) == decisions_.end())
    decisions_.push_back(found);
}

/// To the next way, for that reason.
void ChosenSolver::collective_turn(std::string reason) {
  decisions_.push_back(std::move(reason));
  ++way_;
  collective_take_way();
}

void ChosenSolver::collective_turn_to(std::size_t way) {
  while (way_ < way && !is_last_way()) collective_turn("as in the run that this continues");
}

void ChosenSolver::collective_make_ready() {
  if (attempt_.is_set_up()) return;
  // An earlier solve or renewal has ended in an error.
  if (ways_.empty()) {
    attempt_.let_go(false);
    collective_look();
  }
  way_ = 0;
  collective_take_way();
}

void ChosenSolver::collective_renew(bool keeps_pattern) {
  const std::vector<Candidate> before = ways_;
  const std::size_t way_before = way_;
  const bool was_ready = attempt_.is_set_up();
  // Where an error ends this, the next solve sets all up.
  attempt_.let_go(keeps_pattern && !is_scaled() && !scales_matrix());
  collective_look();
  if (is_scaled() || scales_matrix()) attempt_.let_go(false);  // nothing of it is of this matrix
  if (!was_ready || !std::ranges::equal(before, ways_, is_same)) {
    decisions_.clear();
    collective_take_way();
    return;
  }
  way_ = way_before;
  try {
    attempt_.collective_set_up_again(settings_of_way(), limits_of_way());
    note_found();
  } catch (const InputError& error) {
    if (is_last_way()) throw;
    collective_turn(error.what());
  }
}

void ChosenSolver::collective_precondition(std::span<const double> r, std::span<double> z) {
  collective_make_ready();
  attempt_.collective_precondition(r, z);
}

// A solve.

/// True if no other way may do better.
bool ChosenSolver::is_final(const SolveReport& report) const {
  if (is_last_way() || report.status == SolveStatus::converged ||
      report.status == SolveStatus::stopped || report.status == SolveStatus::out_of_time)
    return true;
  if (report.status == SolveStatus::not_converged &&
      report.iterations >= asked_.stop.max_iterations)
    return true;
  // No other method leaves less of a b that has a part in the null space.
  return system_.null_space() && report.status == SolveStatus::not_converged &&
         asked_.stop.is_met(report.recurrence_residual, 1);
}

/// Where `auto` has failed: why all other ways would, too, in either norm in which a residual is to
/// be small; empty where one may not.
std::string ChosenSolver::collective_find_hopeless(const VectorsInRange& vectors,
                                                   const SolveReport& report) {
  spmv::SparseOperator* const matrix = system_.matrix();
  const bool has_failed = report.status == SolveStatus::not_converged ||
                          report.status == SolveStatus::breakdown ||
                          report.status == SolveStatus::diverged;
  if (!matrix || !is_free_ || !has_failed || system_.null_space() || !vectors.unmendable().empty())
    return "";
  RowResidual residual(*matrix);
  FailedSolve solve{.op = *matrix,
                    .residual = residual,
                    .is_symmetric = system_.is_symmetric(),
                    .b = vectors.b(),
                    .x = attempt_.solution()};
  std::string why = library::collective_find_hopeless(solve, vectors.stop());
  if (why.empty() && is_scaled()) {
    solve.weights = system_.rows().weights();
    why = library::collective_find_hopeless(solve, vectors.stop());
  }
  return why.empty() || is_last_way() ? why : why + ": no other method is tried";
}

/// One solve by the way in use, or by the way that a checkpoint is of.
SolveReport ChosenSolver::collective_attempt(const VectorsInRange& vectors) {
  while (true) {
    try {
      return attempt_.collective_solve(vectors);
    } catch (const InputError& error) {
      const bool has_checkpoint = hooks_.checkpoints && hooks_.checkpoints->has_state();
      if (!has_checkpoint || is_last_way()) throw;
      collective_turn(error.what());
    }
  }
}

SolveReport ChosenSolver::collective_solve(std::span<const double> b, const solver::Guess& guess) {
  limits_.begin_vectors(0, nullptr);
  return collective_solve_one(b, guess);
}

SolveReport ChosenSolver::collective_solve_one(std::span<const double> b,
                                               const solver::Guess& guess) {
  collective_make_ready();
  const VectorsInRange vectors(system_, b, guess, asked_.stop);
  is_scaled_back_ = vectors.scales_solution();
  SolveReport report = collective_solve_in_range(vectors);
  if (is_scaled_back_ && scaled_back_.size() == 0)
    scaled_back_ = perfmodel::HugePageBuffer<double>(b.size());
  vectors.collective_scale_back(
      found_solution(), is_scaled_back_ ? scaled_back_.span() : std::span<double>{}, report);
  return report;
}

SolveReport ChosenSolver::collective_solve_in_range(const VectorsInRange& vectors) {
  least_.clear();
  limits_.start_solve();
  while (true) {
    collective_make_ready();
    if (vectors.guess() && entry().needs_grid)
      throw InputError("initial guess: found " + option_name("method", entry().name) +
                       "; expected another method, which may have " +
                       option_name("preconditioner", "multigrid"));
    SolveReport report = collective_attempt(vectors);
    const std::string why = collective_find_hopeless(vectors, report);
    if (!why.empty()) report.explanation += (report.explanation.empty() ? "" : "; ") + why;
    if (!why.empty() || !vectors.unmendable().empty() || is_final(report)) {
      system_.rows().collective_judge(vectors.b(), attempt_.solution(), vectors.stop(), report);
      const std::string kept = least_.take_place_in(report);
      if (!kept.empty()) decisions_.push_back(kept);
      return report;
    }
    least_.offer(attempt_.solution(), report, name_of(ways_[way_]));
    collective_turn(fmt::format("after {} iterations the residual was {:.1e}{}", report.iterations,
                                report.relative_residual,
                                report.explanation.empty() ? "" : ": " + report.explanation));
  }
}

/// For all of `b`, which is 8, 4 or 2 vectors.
void ChosenSolver::collective_solve_at_once(std::span<const std::span<const double>> b,
                                            std::span<const std::span<const double>> guesses,
                                            std::span<const std::span<double>> x,
                                            std::vector<SolveReport>& reports) {
  std::deque<VectorsInRange> vectors;
  for (std::size_t i = 0; i < b.size(); ++i)
    vectors.emplace_back(system_, b[i], guesses.empty() ? std::nullopt : solver::Guess(guesses[i]),
                         asked_.stop);
  std::vector<SolveReport> solved = attempt_.collective_solve_block(vectors);
  for (std::size_t i = 0; i < b.size(); ++i) {
    const std::span<const double> y = attempt_.solution(b.size(), i);
    system_.rows().collective_judge(vectors[i].b(), y, vectors[i].stop(), solved[i]);
    if (!vectors[i].scales_solution()) std::ranges::copy(y, x[i].begin());
    vectors[i].collective_scale_back(y, x[i], solved[i]);
    reports.push_back(std::move(solved[i]));
  }
}

std::vector<SolveReport> ChosenSolver::collective_solve_block(
    std::span<const std::span<const double>> b, std::span<const std::span<const double>> guesses,
    std::span<const std::span<double>> x, bool may_block, const OnVectorIteration& on_iteration) {
  std::vector<SolveReport> reports;
  while (reports.size() < b.size()) {
    const std::size_t first = reports.size();
    collective_make_ready();
    std::size_t count = may_block ? BlockSolver::width(b.size() - first) : 1;
    if (count > 1 && !(is_last_way() && attempt_.collective_may_solve_block())) count = 1;
    limits_.begin_vectors(first, &on_iteration);
    if (count > 1) {
      collective_solve_at_once(b.subspan(first, count),
                               guesses.empty() ? guesses : guesses.subspan(first, count),
                               x.subspan(first, count), reports);
      continue;
    }
    reports.push_back(collective_solve_one(
        b[first], guesses.empty() ? std::nullopt : solver::Guess(guesses[first])));
    std::ranges::copy(solution(), x[first].begin());
  }
  return reports;
}

}  // namespace weft::library
