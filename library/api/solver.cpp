#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "library/api/agreed.h"
#include "library/api/guarded.h"
#include "library/api/matrix_state.h"
#include "library/measure/mode_choice.h"
#include "library/solve/chosen_solver.h"
#include "library/solve/solve_description.h"
#include "library/solve/solve_sequence.h"
#include "library/state/caller_preconditioner.h"
#include "library/system/block_columns.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/stopwatch.h"
#include "solver/amg/coarsening/near_null_space.h"
#include "solver/methods/method_table.h"

namespace weft {
inline namespace v0 {
namespace {

using comm_thread::InputError;
using comm_thread::option_name;
using comm_thread::TeamThread;
using library::ChosenSolver;
using library::guarded;

/// A history longer than this grows while the solve runs.
constexpr std::int64_t reserved_history = 100000;

}  // namespace

/// What a weft::Solver owns. Members are destroyed in the reverse of their order.
struct Solver::State {
  State(std::shared_ptr<Matrix::State> of_matrix, const Options& options,
        std::optional<UserPreconditioner> of_caller, const SolverVectors& vectors = {});

  Report solve(std::span<const double> b, std::span<double> x, Start start);
  std::vector<Report> solve_block(std::span<const double> b, std::span<double> x, int count,
                                  Start start);
  void precondition(std::span<const double> r, std::span<double> z);

  std::shared_ptr<Matrix::State> matrix;
  library::SolveSettings settings;
  std::optional<UserPreconditioner> user;
  Monitor monitor;
  std::uint64_t values_version = 0;  // that the solver was set up for, and
  std::uint64_t places_version = 0;  // of the places of entries
  bool is_to_renew = false;
  double setup_seconds = 0;
  std::string mode_choice;  // why this mode; empty where it was named
  std::vector<double> history;
  std::unique_ptr<ChosenSolver> solver;
  std::optional<library::SolveSequence> sequence;  // with `recycle`

 private:
  void check() const;
  void collective_take(const SolverVectors& vectors);
  void expect_whole_matrix() const;
  library::SystemContext context();
  library::SolveHooks hooks();
  void collective_renew_if_stale();
  void expect_lengths(std::size_t b, std::size_t x, int count = 1) const;
  Report report_of(const solver::SolveReport& solved) const;

  perfmodel::HugePageBuffer<double> b_;  // where the operator's vectors are others
  perfmodel::HugePageBuffer<double> guess_;
};

Solver::State::State(std::shared_ptr<Matrix::State> of_matrix, const Options& options,
                     std::optional<UserPreconditioner> of_caller, const SolverVectors& vectors)
    : matrix(std::move(of_matrix)), user(std::move(of_caller)) {
  matrix->job->roll_call.collective_answer("making a solver");
  library::collective_agree_on(
      matrix->space, "solver",
      fmt::format("{} {} {}", user.has_value(), vectors.near_null_count, vectors.dimensions),
      options, [&] {
        settings = library::SolveSettings::parse(options.all());
        settings.operator_kind = matrix->settings.operator_kind;
        settings.format = settings.is_matrix_free() ? "auto" : matrix->settings.format;
        settings.order = matrix->settings.order;
        settings.partition = matrix->settings.partition;
        if (vectors.near_null_count != 0) settings.near_null = library::in_memory;
        if (vectors.dimensions != 0) settings.coordinates = library::in_memory;
        check();
      });
  expect_whole_matrix();
  collective_take(vectors);
  const perfmodel::Stopwatch watch;
  mode_choice =
      library::collective_settle_mode(*matrix->job->job, matrix->system->op(), settings.mode);
  if (!matrix->system->map().is_identity()) {
    b_ = perfmodel::HugePageBuffer<double>(matrix->system->element_count());
    guess_ = perfmodel::HugePageBuffer<double>(matrix->system->element_count());
  }
  values_version = matrix->values_version;
  places_version = matrix->places_version;
  solver = std::make_unique<ChosenSolver>(matrix->system->op(), settings, context(), hooks());
  if (settings.recycles()) sequence.emplace(*solver);
  setup_seconds = watch.seconds();
}

/// Copies the vectors of the caller, in the order of the operator's rows.
void Solver::State::collective_take(const SolverVectors& vectors) {
  const bool has_null_space =
      matrix->space.max(std::int64_t{vectors.null_space.empty() ? 0 : 1}) > 0;
  if (vectors.near_null_count == 0 && vectors.dimensions == 0 && !has_null_space) return;
  const auto given = std::make_shared<library::GivenVectors>();
  const auto take = [&](const char* name, std::span<const double> values, int count, int most) {
    const std::size_t expected =
        matrix->system->map().given_count() * static_cast<std::size_t>(std::max(count, 0));
    std::string fault;
    if (count < 0 || count > most)
      fault = fmt::format("{}: found {} values a row; expected 1 to {}", name, count, most);
    else if (values.size() != expected)
      fault = fmt::format("{} of rank {}: found {} values; expected {}, {} for each row", name,
                          matrix->space.rank(), values.size(), expected, count);
    comm_thread::collective_agree_on_error(matrix->space, fault);
    if (count == 0) return std::vector<double>{};
    const library::BlockColumns columns(matrix->system->map(), matrix->system->element_count(),
                                        count);
    const auto own = columns.collective_to_operator(values);
    std::vector<double> rows(matrix->system->element_count() * own.size());
    for (std::size_t c = 0; c < own.size(); ++c)
      for (std::size_t row = 0; row < own[c].size(); ++row)
        rows[row * own.size() + c] = own[c].span()[row];
    return rows;
  };
  constexpr int most_vectors = solver::amg::most_near_null_vectors;
  given->near_null = take("near-null", vectors.near_null, vectors.near_null_count, most_vectors);
  given->near_null_count = vectors.near_null_count;
  given->coordinates = take("coordinates", vectors.coordinates, vectors.dimensions, 3);
  given->dimensions = vectors.dimensions;
  if (has_null_space) {
    given->null_space = take("null-space", vectors.null_space, 1, 1);
    settings.null_space = library::in_memory;
  }
  settings.given = given;
}

/// The same on every rank.
void Solver::State::expect_whole_matrix() const {
  if (!matrix->half().empty()) throw InputError(matrix->half());
}

void Solver::State::check() const {
  library::check_needs(
      {{{"triangle", "base"}, false, "as an option of a solver", "it with the matrix"}},
      library::solve_options(), settings);
  settings.check();
  const solver::KrylovEntry* const wanted = solver::find_krylov_method(settings.method);
  if (!user) return;
  if (!user->apply)
    throw InputError("preconditioner of the caller: found no function; expected one");
  if (settings.preconditioner != "none" || settings.method == "pcg-jacobi")
    throw InputError(option_name("preconditioner") + ": found " + settings.preconditioner +
                     " with method " + settings.method +
                     " beside one of the caller; expected none");
  if (!user->is_symmetric && (!wanted || wanted->needs_symmetric_preconditioner))
    throw InputError("preconditioner of the caller: found one that is not symmetric with " +
                     option_name("method", settings.method) + "; expected " +
                     option_name("method", "gmres") + " or fcg");
}

library::SystemContext Solver::State::context() {
  library::SystemContext context = matrix->system->context();
  if (context.collective_read)
    context.collective_read = [this, read = context.collective_read](const std::string& path) {
      return settings.given && path == library::in_memory ? settings.given->null_space : read(path);
    };
  if (user)
    context.collective_make_preconditioner = [this] {
      return std::make_unique<library::CallerPreconditioner>(matrix->system->op(),
                                                             matrix->system->map(), *user);
    };
  return context;
}

library::SolveHooks Solver::State::hooks() {
  library::SolveHooks hooks;
  hooks.on_start = [this] { history.clear(); };
  if (settings.has_history || settings.recycles())
    hooks.on_iteration = [this](std::int64_t iteration, double residual) {
      if (settings.has_history) history.push_back(residual);
      if (sequence) sequence->note_iteration(iteration, residual);
    };
  hooks.stops = [this](std::int64_t iteration, double residual) {
    return monitor && monitor(iteration, residual);
  };
  return hooks;
}

void Solver::State::expect_lengths(std::size_t b, std::size_t x, int count) const {
  const std::size_t expected =
      matrix->system->map().given_count() * static_cast<std::size_t>(std::max(count, 0));
  std::string fault;
  if (count < 1)
    fault = fmt::format("count: found {}; expected 1 or more", count);
  else if (b != expected || x != expected)
    fault = fmt::format("b, x of rank {}: found {} and {} entries; expected {}, one for each row",
                        matrix->space.rank(), b, x, expected);
  comm_thread::collective_agree_on_error(matrix->space, fault);
}

void Solver::State::collective_renew_if_stale() {
  expect_whole_matrix();
  const bool has_new_values = values_version != matrix->values_version;
  const bool has_other_places = places_version != matrix->places_version;
  const bool is_stale =
      has_new_values && (!settings.reuses_preconditioner || solver->scales_matrix());
  if (!is_to_renew && !is_stale && !sequence) return;
  const perfmodel::Stopwatch watch;
  // Where an error ends this, the next call renews again.
  if (sequence)
    sequence->collective_prepare({.has_new_values = has_new_values,
                                  .has_other_places = has_other_places,
                                  .must_make = is_to_renew});
  else
    solver->collective_renew(!is_to_renew && !has_other_places);
  is_to_renew = false;
  values_version = matrix->values_version;
  places_version = matrix->places_version;
  setup_seconds = watch.seconds();
}

void Solver::State::precondition(std::span<const double> r, std::span<double> z) {
  matrix->job->roll_call.collective_answer("a preconditioner");
  expect_lengths(r.size(), z.size());
  collective_renew_if_stale();
  library::VectorMap& map = matrix->system->map();
  if (map.is_identity()) return solver->collective_precondition(r, z);
  map.collective_to_operator(r, b_.span());
  solver->collective_precondition(b_.span(), guess_.span());
  map.collective_from_operator(guess_.span(), z);
}

Report Solver::State::solve(std::span<const double> b, std::span<double> x, Start start) {
  matrix->job->roll_call.collective_answer("a solve");
  expect_lengths(b.size(), x.size());
  const bool has_guess = start == Start::from_guess;
  collective_renew_if_stale();
  if (settings.has_history)
    history.reserve(
        static_cast<std::size_t>(std::min(settings.stop.max_iterations, reserved_history)));

  const perfmodel::Stopwatch solve_watch;
  std::span<const double> right_hand_side = b;
  solver::Guess guess;
  if (!matrix->system->map().is_identity()) {
    matrix->system->map().collective_to_operator(b, b_.span());
    right_hand_side = b_.span();
    if (has_guess) {
      matrix->system->map().collective_to_operator(x, guess_.span());
      guess = guess_.span();
    }
  } else if (has_guess) {
    guess = x;
  }
  const solver::SolveReport solved = sequence ? sequence->collective_solve(right_hand_side, guess)
                                              : solver->collective_solve(right_hand_side, guess);
  matrix->system->map().collective_from_operator(solver->solution(), x);
  Report report = report_of(solved);
  report.solve_seconds = solve_watch.seconds();
  setup_seconds = 0;
  return report;
}

std::vector<Report> Solver::State::solve_block(std::span<const double> b, std::span<double> x,
                                               int count, Start start) {
  matrix->job->roll_call.collective_answer("a solve");
  expect_lengths(b.size(), x.size(), count);
  collective_renew_if_stale();
  const bool has_guess = start == Start::from_guess;
  const perfmodel::Stopwatch solve_watch;
  const library::BlockColumns columns(matrix->system->map(), matrix->system->element_count(),
                                      count);
  const auto right_hand_sides = columns.collective_to_operator(b);
  auto solutions = columns.collective_to_operator(has_guess ? std::span<const double>(x) : b);
  std::vector<std::vector<double>> histories(static_cast<std::size_t>(count));
  library::OnVectorIteration on_iteration;
  if (settings.has_history)
    on_iteration = [&](std::size_t vector, std::int64_t iteration, double residual) {
      if (iteration == 1) histories[vector].clear();  // of a method that has been given up
      histories[vector].push_back(residual);
    };
  const auto read = library::BlockColumns::views(right_hand_sides);
  const auto guesses = library::BlockColumns::views(solutions);
  const auto written = library::BlockColumns::changeable_views(solutions);
  std::vector<Report> reports;
  const bool is_watched = matrix->space.max(std::int64_t{monitor ? 1 : 0}) > 0;  // on some rank
  const auto solved = solver->collective_solve_block(
      read, has_guess ? guesses : std::vector<std::span<const double>>{}, written, !is_watched,
      on_iteration);
  columns.collective_from_operator(solutions, x);
  for (std::size_t i = 0; i < solved.size(); ++i) {
    reports.push_back(report_of(solved[i]));
    if (settings.has_history) reports.back().history = std::move(histories[i]);
    reports.back().solve_seconds = solve_watch.seconds();
  }
  setup_seconds = 0;
  return reports;
}

Report Solver::State::report_of(const solver::SolveReport& solved) const {
  Report report =
      library::describe(*solver, solved, matrix->system->op(), matrix->system->format_name());
  report.mode_choice = mode_choice;
  report.setup_seconds = setup_seconds;
  report.history = history;
  if (sequence) {
    report.set_up = solver::name(sequence->set_up());
    report.earlier_solutions = sequence->guess_vectors();
  }
  return report;
}

Solver::Solver(const Matrix& a, const Options& options)
    : state_(guarded([&] { return std::make_unique<State>(a.state(), options, std::nullopt); })) {}

Solver::Solver(const Matrix& a, const Options& options, const UserPreconditioner& preconditioner)
    : state_(guarded([&] { return std::make_unique<State>(a.state(), options, preconditioner); })) {
}

Solver::Solver(const Matrix& a, const Options& options, const SolverVectors& vectors)
    : state_(guarded(
          [&] { return std::make_unique<State>(a.state(), options, std::nullopt, vectors); })) {}

Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;
Solver::~Solver() = default;

Report Solver::solve(std::span<const double> b, std::span<double> x, Start start) {
  return guarded([&] { return state_->solve(b, x, start); });
}

std::vector<Report> Solver::solve_block(std::span<const double> b, std::span<double> x, int count,
                                        Start start) {
  return guarded([&] { return state_->solve_block(b, x, count, start); });
}

void Solver::precondition(std::span<const double> r, std::span<double> z) {
  guarded([&] { state_->precondition(r, z); });
}

void Solver::set_monitor(Monitor monitor) { state_->monitor = std::move(monitor); }
void Solver::renew_preconditioner() { state_->is_to_renew = true; }

}  // namespace v0
}  // namespace weft
