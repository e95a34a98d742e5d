#include "library/solve/chosen_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "library/settings/preconditioner_choice.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/stopwatch.h"
#include "solver/methods/deflated_solve.h"
#include "solver/methods/iteration_forecast.h"
#include "solver/methods/method_table.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using comm_thread::TeamThread;
using solver::Candidate;
using solver::SolveReport;
using solver::SolveStatus;

/// Iterations without progress after which another way is tried.
constexpr std::int64_t patience_with_a_choice = 300;
/// Iterations from which a residual tells how many more it takes, and the share of those that were
/// forecast of multigrid, a digit each, from which it is given up. Varying coefficients take up to
/// two and a half times as many.
constexpr std::int64_t least_that_tell = 8;
constexpr double most_of_forecast = 4;
/// Rows of a matrix with a known grid from which timed trials, of multigrid too, are worth their
/// time: 20³ points took 194 ms with and 3 ms without.
constexpr std::int64_t least_rows_for_trials = 27000;

/// Sets a function of the caller for as long as it lives, and counts vectors from 0 afterwards.
class VectorIterationScope {
 public:
  VectorIterationScope(OnVectorIteration& target, const OnVectorIteration& wanted,
                       std::size_t& first_vector)
      : target_(target), first_vector_(first_vector) {
    target_ = wanted;
  }
  ~VectorIterationScope() {
    target_ = nullptr;
    first_vector_ = 0;
  }
  VectorIterationScope(const VectorIterationScope&) = delete;
  VectorIterationScope& operator=(const VectorIterationScope&) = delete;

 private:
  OnVectorIteration& target_;
  std::size_t& first_vector_;
};

std::string name_of(const Candidate& way) {
  return fmt::format("{} with preconditioner {}", way.method, way.preconditioner);
}

/// True if conjugate gradients for 8 vectors at once are quicker than for one after the other. The
/// 8 vectors leave a cache that those of one stay in, for which short rows do not make up.
/// Processor time of 8 alone over 8 at once, on one rank: with 7 entries a row 1.1 to 1.25 for up
/// to 33 000 rows, 0.76 to 0.9 for 110 000 to 1 000 000; with 9 entries 1.5, with 26 1.8, with
/// 47 2.7.
bool reading_once_pays(const spmv::SparseOperator& op, int rank_count) {
  constexpr std::int64_t long_row = 8;
  constexpr std::int64_t few_rows = 50'000;
  const std::int64_t rows = op.global_row_count();
  return op.matrix().matrix().global_nonzero_count >= long_row * rows ||
         rows <= few_rows * rank_count;
}

}  // namespace

ChosenSolver::ChosenSolver(spmv::LinearOperator& op, SolveSettings settings, SystemContext context,
                           SolveHooks hooks)
    : given_op_(op),
      asked_(std::move(settings)),
      context_(std::move(context)),
      hooks_(std::move(hooks)) {
  if (asked_.max_seconds > 0) limit_.emplace(op.communicator(), asked_.max_seconds);
  collective_look();
  collective_take_way();
}

void ChosenSolver::collective_look() {
  ways_.clear();  // where an error ends this, the next solve looks again
  row_residual_.reset();
  scales_.reset();
  collective_bring_matrix_into_range();
  auto* const matrix = dynamic_cast<spmv::SparseOperator*>(&op());
  // A stored stencil takes no time to read: one vector after another stays in cache better.
  const bool is_stored = matrix && !matrix->matrix().format_name().starts_with("stencil");
  may_block_ = op().communicator().max(std::int64_t{is_stored}) > 0 && matrix &&
               reading_once_pays(*matrix, op().communicator().size());
  const std::string& word = asked_.null_space;
  if (!matrix && !word.empty() && word != "none")
    throw InputError("--null-space: found an operator without a matrix; expected a matrix");
  traits_.reset();
  if (matrix) {
    traits_ = collective_find_given_traits(*matrix, context_.collective_given_row);
    scales_ = solver::collective_find_row_scales(*matrix, *traits_);
  }
  const bool may_try_grid = asked_.may_choose_multigrid() && is_symmetric() &&
                            op().global_row_count() > least_rows_for_trials &&
                            (context_.problem.has_grid() || !asked_.grid.empty());
  is_free_ = traits_ && asked_.method == "auto" && !asked_.has_preconditioner && !may_try_grid &&
             !context_.collective_make_preconditioner;
  if (scales_) collective_scale(*matrix);
  std::vector<Candidate> ways = find_ways();
  null_space_.reset();
  null_space_text_.clear();
  if (traits_) collective_find_null_space(*matrix);
  ways_ = std::move(ways);
  way_ = 0;
}

/// Why a scaled system cannot be solved in the place of the given one; empty where it can.
std::string ChosenSolver::obstacle_to_scaling() const {
  const std::string& word = asked_.null_space;
  const bool has_modes = !asked_.near_null.empty() || !asked_.coordinates.empty() ||
                         asked_.block_size > 1 ||
                         context_.problem.kind == spmv::ProblemKind::elasticity3d;
  if (word.empty() ? traits_->has_constant_null_space() : word != "none") return "a null space";
  if (context_.collective_make_preconditioner) return "a preconditioner of the caller";
  if (asked_.reuses_preconditioner) return "a preconditioner that is kept for other values";
  if (asked_.has_multigrid() || !asked_.grid.empty() || context_.problem.has_grid())
    return "multigrid on a grid";
  if (has_modes && scales_->has_other_rows) return "vectors that coarse levels keep";
  return "";
}

/// Where it is asked for, or `auto` chooses.
void ChosenSolver::collective_scale(spmv::SparseOperator& matrix) {
  const bool is_wanted =
      asked_.scale == "rows" || (asked_.scale == "auto" && asked_.method == "auto");
  if (!is_wanted) return;
  const std::string obstacle = obstacle_to_scaling();
  if (obstacle.empty()) {
    scaled_ = std::make_unique<ScaledSystem>(matrix, *scales_, asked_.parsed_format());
    traits_->grid.reset();  // couplings of a scaled matrix jump from point to point
  } else if (asked_.scale == "rows") {
    throw InputError("--scale rows: found with " + obstacle + "; expected --scale none or auto");
  }
}

/// Of a preconditioner of the caller nobody knows what it makes of other values.
void ChosenSolver::collective_bring_matrix_into_range() {
  scaled_op_.reset();
  matrix_exponent_ = 0;
  is_matrix_finite_ = true;
  auto* const given = dynamic_cast<spmv::SparseOperator*>(&given_op_);
  if (!given || context_.collective_make_preconditioner) return;
  const ValueRange range = collective_range_of(*given);
  is_matrix_finite_ = std::isfinite(range.largest);
  matrix_exponent_ = range.exponent;
  if (matrix_exponent_ == 0) return;
  if (!space_) space_.emplace(given->communicator().collective_duplicate());
  scaled_op_.emplace(collective_scaled(*given, matrix_exponent_, *space_));
}

std::vector<Candidate> ChosenSolver::find_ways() const {
  if (is_free_) return solver::candidates(*traits_, {.has_amg = true});
  if (asked_.method == "auto" && !is_symmetric() && !asked_.force)
    return {{"gmres", asked_.preconditioner, "the matrix is not symmetric"}};
  if (traits_) check_symmetry(asked_, *traits_, context_.name);
  return {{asked_.method, asked_.preconditioner, ""}};
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
      throw InputError("--null-space: found the file " + word + "; expected constant or none");
    vector = context_.collective_read(word);
  }
  try {
    null_space_ = std::make_unique<solver::NullSpace>(matrix, vector);
  } catch (const InputError& error) {
    throw InputError("--null-space " + word + ": " + error.what());
  }
}

void ChosenSolver::collective_renew(bool keeps_pattern) {
  const std::vector<Candidate> before = ways_;
  const std::size_t way_before = way_;
  const bool was_ready = method_ != nullptr;
  std::unique_ptr<solver::KrylovMethod> method;  // that may stay
  if (scaled_) forget_scaled();
  if (keeps_pattern && !null_space_ && !scales_matrix()) method = std::move(method_);
  forget_methods();  // where an error ends this, the next solve sets all up
  if (scales_matrix()) {  // nothing refers to the matrix that goes
    null_space_.reset();
    preconditioner_.reset();
  }
  collective_look();
  if (scaled_ || scales_matrix()) {  // nothing that is there is of this matrix
    keeps_pattern = false;
    method.reset();
  }
  const auto is_same = [](const Candidate& a, const Candidate& b) {
    return a.method == b.method && a.preconditioner == b.preconditioner;
  };
  const bool is_settled = was_ready && std::ranges::equal(before, ways_, is_same);
  if (!is_settled) {
    method.reset();
    decisions_.clear();
    choice_ = {nullptr, ""};
    collective_take_way();
    return;
  }
  way_ = way_before;
  try {
    const bool has_adapted =
        keeps_pattern && preconditioner_ && preconditioner_->collective_take_new_values();
    if (has_adapted && !null_space_ && method && method->collective_take_new_values()) {
      method_ = std::move(method);
      return;
    }
    method.reset();  // before what it refers to, and before other vectors
    if (has_adapted)
      collective_make_method();
    else
      collective_set_up(ways_[way_]);
  } catch (const InputError& error) {
    method.reset();
    if (is_last_way()) throw;
    collective_turn(error.what());
  }
}

/// To the next way, for that reason.
void ChosenSolver::collective_turn(std::string reason) {
  decisions_.push_back(std::move(reason));
  ++way_;
  collective_take_way();
}

void ChosenSolver::collective_make_ready() {
  if (method_) return;
  // An earlier solve or renewal has ended in an error.
  if (ways_.empty()) {
    forget_scaled();
    collective_look();
  }
  way_ = 0;
  collective_take_way();
}

/// With all that refers to the scaled matrix.
void ChosenSolver::forget_scaled() {
  forget_methods();
  preconditioner_.reset();
  schwarz_ = nullptr;
  scaled_.reset();
}

void ChosenSolver::forget_methods() {
  method_.reset();  // they refer to the preconditioner, and to the null space
  block_methods_.clear();
  deflated_.reset();
}

void ChosenSolver::collective_take_way() {
  if (scaled_ && decisions_.empty())
    decisions_.push_back(fmt::format(
        "rows differ in scale by up to {:.2g}: {} of {} are scaled by powers of two, and the "
        "residual is small with each row divided by its scale, too",
        scales_->ratio(), scales_->scaled_row_count, op().global_row_count()));
  for (;; ++way_) {
    const Candidate& way = ways_[way_];
    if (is_free_ || !way.reason.empty())
      decisions_.push_back(way_ == 0 ? name_of(way) + ": " + way.reason
                                     : "turned to " + name_of(way));
    choice_ = {nullptr, ""};
    try {
      collective_set_up(way);
      return;
    } catch (const InputError& error) {
      if (is_last_way()) throw;
      decisions_.emplace_back(error.what());
    }
  }
}

void ChosenSolver::collective_set_up(const Candidate& way) {
  forget_methods();
  preconditioner_.reset();
  schwarz_ = nullptr;
  settings_ = asked_;
  settings_.method = way.method;
  settings_.preconditioner = way.preconditioner;
  if (is_free_ && way.preconditioner == "multigrid" && !context_.problem.has_grid()) {
    const spmv::GridSize& grid = *traits_->grid;
    settings_.grid = fmt::format("{}x{}x{}", grid.x, grid.y, grid.z);
  }
  if (hooks_.on_set_up) hooks_.on_set_up(settings_);
  collective_make_preconditioner();
  collective_make_method();
}

void ChosenSolver::collective_make_method() {
  forget_methods();
  if (null_space_)
    deflated_ =
        std::make_unique<solver::DeflatedPreconditioner>(*null_space_, preconditioner_.get());
  choose_options();
  if (!choice_.method && settings_.method == "auto") {
    // How many iterations varying coefficients cost without multigrid, nobody knows beforehand.
    const bool may_drop = settings_.may_choose_multigrid() && context_.problem.has_stencil();
    choice_ = collective_choose_method(worked_on(), method_options_, may_drop);
    if (choice_.drops_preconditioner) {
      preconditioner_.reset();
      method_options_.preconditioner = nullptr;
    }
  } else if (!choice_.method) {
    choice_.method =
        solver::find_krylov_method(settings_.method == "pcg-jacobi" ? "cg" : settings_.method);
  }
  method_ = choice_.method->collective_make(worked_on(), method_options_);
}

void ChosenSolver::collective_make_preconditioner() {
  const perfmodel::Stopwatch watch;
  try {
    if (context_.collective_make_preconditioner) {
      preconditioner_ = context_.collective_make_preconditioner();
    } else {
      auto made = library::collective_make_preconditioner(
          worked_on(), settings_, context_.problem, hooks_.on_forecast,
          scaled_ ? scaled_->constant() : std::vector<double>{});
      preconditioner_ = std::move(made.object);
      schwarz_ = made.schwarz;
    }
  } catch (const InputError& error) {
    if (context_.name.empty()) throw;
    throw InputError(context_.name + ": " + error.what());
  }
  preconditioner_seconds_ = watch.seconds();
}

void ChosenSolver::choose_options() {
  method_options_ = {
      .mode = *spmv::parse_mode(settings_.mode),
      .preconditioner = null_space_ ? deflated_.get() : preconditioner_.get(),
      .stop = settings_.stop,
      .patience = is_last_way() ? 0 : patience_with_a_choice,
      .on_iteration =
          [this](std::int64_t iteration, double residual) {
            iteration += iterations_before_;
            residual *= residual_share_;
            if (on_vector_iteration_)
              on_vector_iteration_(first_vector_, iteration, residual);
            else if (hooks_.on_iteration)
              hooks_.on_iteration(iteration, residual);
          },
      .stops = hooks_.stops,
      .checkpoints = hooks_.checkpoints,
  };
  if (limit_)
    method_options_.stops = [this](std::int64_t iteration, double residual) {
      const bool is_asked = hooks_.stops && hooks_.stops(iteration, residual);
      return limit_->collective_is_over() || is_asked;
    };
  if (scaled_)
    method_options_.stops = [this, stops = std::move(method_options_.stops)](std::int64_t iteration,
                                                                             double residual) {
      iteration += iterations_before_;
      if (stops && stops(iteration, residual * residual_share_)) is_asked_to_stop_ = true;
      const bool is_over = iterations_before_ > 0 && iteration + 1 >= settings_.stop.max_iterations;
      return is_asked_to_stop_ || is_over;
    };
  watch_forecast();
  method_options_.multigrid = settings_.parsed_multigrid();
  if (settings_.restart > 0) method_options_.restart = settings_.restart;
}

/// Ends multigrid on the grid of a matrix where another way is left and it gains too little.
void ChosenSolver::watch_forecast() {
  if (!is_free_ || is_last_way() || settings_.preconditioner != "multigrid" || !traits_->grid)
    return;
  const double digits = solver::forecast_iterations(true, stencil_of(*traits_->grid), asked_.stop);
  const double forecast = std::max(digits, static_cast<double>(least_that_tell));
  method_options_.stops = [this, forecast, stops = std::move(method_options_.stops)](
                              std::int64_t iteration, double residual) {
    if (stops && stops(iteration, residual)) {
      is_asked_to_stop_ = true;
      return true;
    }
    const auto so_far = static_cast<double>(iteration);
    const double expected = residual < 1
                                ? so_far * std::log(asked_.stop.tolerance) / std::log(residual)
                                : std::numeric_limits<double>::infinity();
    if (so_far < forecast || !(expected > most_of_forecast * forecast)) return false;
    if (iteration_behind_ == 0) iteration_behind_ = iteration;
    return true;
  };
}

bool ChosenSolver::is_final(const SolveReport& report) const {
  if (is_last_way() || !unmendable_.empty() || report.status == SolveStatus::converged ||
      report.status == SolveStatus::stopped || report.status == SolveStatus::out_of_time)
    return true;
  if (report.status == SolveStatus::not_converged &&
      report.iterations >= asked_.stop.max_iterations)
    return true;
  // No other method leaves less of a b that has a part in the null space.
  return null_space_ && report.status == SolveStatus::not_converged &&
         asked_.stop.is_met(report.recurrence_residual, 1);
}

SolveReport ChosenSolver::collective_run_method(std::span<const double> b,
                                                const solver::Guess& guess) {
  while (true) {
    try {
      if (hooks_.on_start) hooks_.on_start();
      method_->set_stop(stop_);
      if (scaled_) return collective_solve_scaled(b, guess);
      if (!null_space_) return collective_solve_watched(b, guess);
      return solver::collective_solve_deflated(*method_, *null_space_, is_symmetric(), stop_, b,
                                               guess);
    } catch (const InputError& error) {
      const bool has_checkpoint = hooks_.checkpoints && hooks_.checkpoints->has_state();
      if (!has_checkpoint || is_last_way()) throw;
      collective_turn(error.what());
    }
  }
}

SolveReport ChosenSolver::collective_solve_watched(std::span<const double> b,
                                                   const solver::Guess& guess) {
  is_asked_to_stop_ = false;
  iteration_behind_ = 0;
  SolveReport report = method_->solve(b, guess);
  if (report.status != SolveStatus::stopped || is_asked_to_stop_ || iteration_behind_ == 0)
    return report;
  report.status = SolveStatus::breakdown;
  report.explanation = "far more iterations are needed than were forecast, of a digit each";
  return report;
}

SolveReport ChosenSolver::collective_solve_scaled(std::span<const double> b,
                                                  const solver::Guess& guess) {
  is_asked_to_stop_ = false;
  const ScaledSystem::Method method{
      .solve =
          [this](std::span<const double> scaled_b, std::int64_t before, double share) {
            iterations_before_ = before;
            residual_share_ = share;
            SolveReport report = method_->solve(scaled_b);
            if (report.status == SolveStatus::stopped && !is_asked_to_stop_)
              report.status = SolveStatus::not_converged;  // all iterations that there may be
            return report;
          },
      .y = [this] { return method_->solution(); }};
  SolveReport report =
      scaled_->collective_solve(method, stop_, b, guess, hooks_.checkpoints == nullptr);
  iterations_before_ = 0;
  residual_share_ = 1;
  return report;
}

/// Where rows differ in scale, but are not scaled, a converged solve may have solved for the large
/// ones only. With half of the digits that were asked for it has solved for all of them.
void ChosenSolver::collective_judge_rows(std::span<const double> b, std::span<const double> x,
                                         SolveReport& report) {
  if (!scales_ || scaled_ || report.status != SolveStatus::converged) return;
  auto& matrix = dynamic_cast<spmv::SparseOperator&>(op());
  if (!row_residual_) row_residual_ = std::make_unique<RowResidual>(matrix, *scales_);
  std::vector<double> r(b.size());
  row_residual_->collective_find(b, x, r);
  const double whole = row_residual_->collective_norm_of_rows(b);
  const double rest = row_residual_->collective_norm_of_rows(r);
  constexpr double much_more = 10;
  report.scaled_residual = whole > 0 ? rest / whole : rest;
  if (!(whole > 0) || rest <= much_more * stop_.wanted_norm(whole)) return;
  report.explanation = fmt::format(
      "rows differ in scale by up to {:.2g}: the residual says nothing about most rows; "
      "with each row divided by its scale it is {:.2g} of b; {}",
      scales_->ratio(), rest / whole,
      obstacle_to_scaling().empty() ? "--method auto or --scale rows solves for all rows"
                                    : "scale the system");
  if (rest > std::sqrt(asked_.stop.tolerance) * whole) report.status = SolveStatus::not_converged;
}

void ChosenSolver::collective_precondition(std::span<const double> r, std::span<double> z) {
  collective_make_ready();
  if (!preconditioner_) {
    std::ranges::copy(r, z.begin());
    return;
  }
  perfmodel::HugePageBuffer<double> from(r.size());
  perfmodel::HugePageBuffer<double> to(r.size());
  if (scaled_)
    scaled_->scale_residual(r, from.span());
  else
    std::ranges::copy(r, from.data());
  preconditioner_->begin_solve();  // r has a magnitude of its own
  op().team().run(
      [&](const TeamThread& thread) { preconditioner_->apply(thread, from.data(), to.data()); });
  if (scaled_)
    scaled_->scale_solution(to.span(), z);
  else
    std::ranges::copy(to.span(), z.begin());
  library::scale(op(), matrix_exponent_, z, z);
}

ChosenSolver::Scale ChosenSolver::collective_scale_for(std::span<const double> b) const {
  const ValueRange range = collective_range_of(op(), b);
  return {.b = range.exponent,
          .x = range.exponent - matrix_exponent_,
          .largest = std::ldexp(range.largest, range.exponent)};
}

std::string ChosenSolver::collective_find_unmendable(const Scale& scale,
                                                     const solver::Guess& guess) const {
  if (!is_matrix_finite_) return "the matrix has a value that is not finite; expected numbers";
  if (!std::isfinite(scale.largest)) return "b has a value that is not finite; expected numbers";
  if (guess && !std::isfinite(collective_range_of(op(), *guess).largest))
    return "the initial guess has a value that is not finite; expected numbers";
  return {};
}

solver::StopCriterion ChosenSolver::stop_for(const Scale& scale) const {
  solver::StopCriterion stop = asked_.stop;
  stop.absolute_tolerance = std::ldexp(stop.absolute_tolerance, scale.b);
  return stop;
}

std::span<const double> ChosenSolver::scaled(std::span<const double> vector, int exponent,
                                             Array& room) const {
  if (exponent == 0) return vector;
  room = Array(op().element_count());
  library::scale(op(), exponent, vector, room.span());
  return room.span();
}

void ChosenSolver::collective_scale_back(const Scale& scale, const std::string& unmendable,
                                         std::span<const double> solved, std::span<double> x,
                                         SolveReport& report) const {
  if (report.status != SolveStatus::converged && !unmendable.empty())
    report.explanation = unmendable;
  if (scale.x == 0) return;
  const double lost = op().communicator().max(library::scale(op(), -scale.x, solved, x));
  if (lost == 0) return;
  const auto rows = static_cast<double>(op().global_row_count());
  report.relative_residual += op().collective_norm() * lost * std::sqrt(rows) / scale.largest;
  const double norm = report.relative_residual * scale.largest;  // at most; so is ‖b‖ at least
  if (report.status != SolveStatus::converged ||
      norm <= solver::KrylovMethod::allowed_drift * stop_for(scale).wanted_norm(scale.largest))
    return;
  report.status = SolveStatus::breakdown;
  report.explanation =
      std::isfinite(lost)
          ? "x has values below 2.2e-308, of which double holds few digits; scale the system"
          : "x has values above 1.8e308, which no double holds; scale the system";
}

SolveReport ChosenSolver::collective_solve(std::span<const double> b, const solver::Guess& guess) {
  collective_make_ready();
  const Scale scale = collective_scale_for(b);
  unmendable_ = collective_find_unmendable(scale, guess);
  stop_ = stop_for(scale);
  is_scaled_back_ = scale.x != 0;
  Array b_room;
  Array guess_room;
  solver::Guess scaled_guess;
  if (guess) scaled_guess = scaled(*guess, scale.x, guess_room);
  SolveReport report = collective_solve_in_range(scaled(b, scale.b, b_room), scaled_guess);
  if (is_scaled_back_ && scaled_back_.size() == 0) scaled_back_ = Array(op().element_count());
  collective_scale_back(scale, unmendable_, found_solution(),
                        is_scaled_back_ ? scaled_back_.span() : std::span<double>{}, report);
  return report;
}

SolveReport ChosenSolver::collective_solve_in_range(std::span<const double> b,
                                                    const solver::Guess& guess) {
  least_.clear();
  if (limit_) limit_->start();
  while (true) {
    collective_make_ready();
    if (guess && entry().needs_grid)
      throw InputError(std::string("initial guess: found --method ") + entry().name +
                       "; expected another method, which may have --preconditioner multigrid");
    SolveReport report = collective_run_method(b, guess);
    if (limit_ && limit_->was_over() && report.status == SolveStatus::stopped) {
      report.status = SolveStatus::out_of_time;
      report.explanation = fmt::format("max-seconds: {:g} s are over", limit_->limit_seconds());
    }
    if (is_final(report)) {
      collective_judge_rows(b, solution_of_way(), report);
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

/// Vectors to solve for at once, of `count` that are left; 1: one after another.
int ChosenSolver::block_width(std::size_t count) const {
  const bool can_block = may_block_ && !scaled_ && is_last_way() && !null_space_ && !limit_ &&
                         method_ && std::string_view(entry().name) == "cg";
  if (!can_block) return 1;
  return count >= 8 ? 8 : count >= 4 ? 4 : count >= 2 ? 2 : 1;
}

solver::BlockCg& ChosenSolver::collective_block_cg(int width) {
  auto& made = block_methods_[width];
  if (!made) {
    solver::BlockCg::Options options{.mode = method_options_.mode,
                                     .preconditioner = method_options_.preconditioner,
                                     .stop = method_options_.stop};
    options.on_iteration = [this](int vector, std::int64_t iteration, double residual) {
      if (on_vector_iteration_)
        on_vector_iteration_(first_vector_ + static_cast<std::size_t>(vector), iteration, residual);
    };
    made = std::make_unique<solver::BlockCg>(dynamic_cast<spmv::SparseOperator&>(op()),
                                             std::move(options), width);
  }
  return *made;
}

std::vector<SolveReport> ChosenSolver::collective_solve_block(
    std::span<const std::span<const double>> b, std::span<const std::span<const double>> guesses,
    std::span<const std::span<double>> x, bool may_block, const OnVectorIteration& on_iteration) {
  std::vector<SolveReport> reports;
  const VectorIterationScope scope(on_vector_iteration_, on_iteration, first_vector_);
  while (reports.size() < b.size()) {
    const std::size_t first = reports.size();
    collective_make_ready();
    const int width = may_block ? block_width(b.size() - first) : 1;
    const auto count = static_cast<std::size_t>(width);
    first_vector_ = first;
    if (width == 1) {
      reports.push_back(collective_solve(
          b[first], guesses.empty() ? std::nullopt : solver::Guess(guesses[first])));
      std::ranges::copy(solution(), x[first].begin());
      continue;
    }
    solver::BlockCg& method = collective_block_cg(width);
    std::vector<Scale> scales(count);
    std::vector<std::string> unmendable(count);
    std::vector<Array> rooms(2 * count);
    std::vector<std::span<const double>> own_b(count);
    std::vector<std::span<const double>> own_guesses(guesses.empty() ? 0 : count);
    for (std::size_t i = 0; i < count; ++i) {
      scales[i] = collective_scale_for(b[first + i]);
      unmendable[i] = collective_find_unmendable(
          scales[i], guesses.empty() ? std::nullopt : solver::Guess(guesses[first + i]));
      method.set_stop(static_cast<int>(i), stop_for(scales[i]));
      own_b[i] = scaled(b[first + i], scales[i].b, rooms[i]);
      if (!guesses.empty())
        own_guesses[i] = scaled(guesses[first + i], scales[i].x, rooms[count + i]);
    }
    if (hooks_.on_start) hooks_.on_start();
    for (SolveReport& report : method.solve(own_b, own_guesses))
      reports.push_back(std::move(report));
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<const double> solved = method.solution(static_cast<int>(i));
      stop_ = stop_for(scales[i]);
      collective_judge_rows(own_b[i], solved, reports[first + i]);
      if (scales[i].x == 0) std::ranges::copy(solved, x[first + i].begin());
      collective_scale_back(scales[i], unmendable[i], solved, x[first + i], reports[first + i]);
    }
  }
  return reports;
}

}  // namespace weft::library
