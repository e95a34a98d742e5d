#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "library/api/guarded.h"
#include "library/api/matrix_state.h"
#include "library/settings/method_choice.h"
#include "library/settings/preconditioner_choice.h"
#include "library/state/caller_preconditioner.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"
#include "perfmodel/stopwatch.h"
#include "solver/krylov/method.h"
#include "solver/methods/method_table.h"
#include "spmv/modes/mode.h"

namespace weft {
inline namespace v0 {
namespace {

using comm_thread::InputError;
using comm_thread::TeamThread;
using library::guarded;
using solver::KrylovMethod;

/// A history longer than this grows while the solve runs.
constexpr std::int64_t reserved_history = 100000;

Status status_of(solver::SolveStatus status) {
  switch (status) {
    case solver::SolveStatus::converged:
      return Status::converged;
    case solver::SolveStatus::not_converged:
      return Status::not_converged;
    case solver::SolveStatus::stopped:
      return Status::stopped;
    case solver::SolveStatus::diverged:
      return Status::diverged;
    case solver::SolveStatus::breakdown:
      break;
  }
  return Status::breakdown;
}

}  // namespace

/// What a weft::Solver owns. Members are destroyed in the reverse of their order.
struct Solver::State {
  State(std::shared_ptr<Matrix::State> of_matrix, const Options& options,
        std::optional<UserPreconditioner> of_caller);

  Report solve(std::span<const double> b, std::span<double> x, Start start);
  void precondition(std::span<const double> r, std::span<double> z);

  std::shared_ptr<Matrix::State> matrix;
  library::SolveSettings settings;
  std::optional<UserPreconditioner> user;
  Monitor monitor;
  std::unique_ptr<solver::Preconditioner> preconditioner;
  std::unique_ptr<KrylovMethod> method;
  const solver::KrylovEntry* entry = nullptr;
  std::string method_choice;
  std::uint64_t values_version = 0;  // that the preconditioner was made of
  bool is_to_renew = false;
  double setup_seconds = 0;
  std::vector<double> history;

 private:
  void check() const;
  void collective_set_up();
  void collective_renew();
  void collective_renew_if_stale();
  void make_method();
  KrylovMethod::Options method_options();
  void expect_lengths(std::size_t b, std::size_t x) const;
  Report report_of(const solver::SolveReport& solved) const;

  perfmodel::HugePageBuffer<double> b_;  // where the operator's vectors are others
  perfmodel::HugePageBuffer<double> guess_;
};

Solver::State::State(std::shared_ptr<Matrix::State> of_matrix, const Options& options,
                     std::optional<UserPreconditioner> of_caller)
    : matrix(std::move(of_matrix)),
      settings(library::SolveSettings::parse(options.all())),
      user(std::move(of_caller)) {
  settings.operator_kind = matrix->settings.operator_kind;
  settings.format = settings.is_matrix_free() ? "auto" : matrix->settings.format;
  settings.order = matrix->settings.order;
  settings.partition = matrix->settings.partition;
  check();
  const perfmodel::Stopwatch watch;
  collective_set_up();
  setup_seconds = watch.seconds();
}

void Solver::State::check() const {
  settings.check();
  const solver::KrylovEntry* const wanted = solver::find_krylov_method(settings.method);
  if (!user) return;
  if (!user->apply)
    throw InputError("preconditioner of the caller: found no function; expected one");
  if (settings.preconditioner != "none" || settings.method == "pcg-jacobi")
    throw InputError("--preconditioner: found " + settings.preconditioner + " with method " +
                     settings.method + " beside one of the caller; expected none");
  if (!user->is_symmetric && (!wanted || wanted->needs_symmetric_preconditioner))
    throw InputError(
        "preconditioner of the caller: found one that is not symmetric with --method " +
        settings.method + "; expected --method gmres or fcg");
}

void Solver::State::collective_set_up() {
  if (!matrix->map->is_identity()) {
    b_ = perfmodel::HugePageBuffer<double>(matrix->op->element_count());
    guess_ = perfmodel::HugePageBuffer<double>(matrix->op->element_count());
  }
  collective_renew();
}

void Solver::State::collective_renew() {
  method.reset();  // it refers to the preconditioner
  if (user) {
    preconditioner =
        std::make_unique<library::CallerPreconditioner>(*matrix->op, *matrix->map, *user);
  } else {
    preconditioner =
        library::collective_make_preconditioner(*matrix->op, settings, matrix->problem).object;
  }
  values_version = matrix->values_version;
  is_to_renew = false;
  make_method();
}

KrylovMethod::Options Solver::State::method_options() {
  KrylovMethod::Options options{
      .mode = *spmv::parse_mode(settings.mode),
      .preconditioner = preconditioner.get(),
      .stop = settings.stop,
      .on_iteration =
          [this](std::int64_t /*iteration*/, double residual) {
            if (settings.has_history) history.push_back(residual);
          },
      .stops = [this](std::int64_t iteration,
                      double residual) { return monitor && monitor(iteration, residual); },
  };
  options.multigrid = settings.parsed_multigrid();
  if (settings.restart > 0) options.restart = settings.restart;
  return options;
}

void Solver::State::make_method() {
  KrylovMethod::Options options = method_options();
  if (!entry && settings.method == "auto") {
    perfmodel::HugePageBuffer<double> ones(matrix->op->element_count());
    matrix->threads().team().run([&](const TeamThread& thread) {
      for (const spmv::Segment& segment : matrix->op->segments(thread.index))
        std::fill_n(ones.data() + segment.begin, segment.count, 1.0);
    });
    const auto choice = library::collective_choose_method(*matrix->op, options, ones.span(), !user);
    entry = choice.method;
    if (choice.drops_preconditioner) {
      preconditioner.reset();
      options.preconditioner = nullptr;
    }
    method_choice = choice.why;
  } else if (!entry) {
    const char* const name = settings.method == "pcg-jacobi" ? "cg" : settings.method.c_str();
    entry = solver::find_krylov_method(name);
  }
  method = entry->collective_make(*matrix->op, options);
}

void Solver::State::expect_lengths(std::size_t b, std::size_t x) const {
  const std::size_t expected = matrix->map->given_count();
  std::string fault;
  if (b != expected || x != expected)
    fault = fmt::format("b, x of rank {}: found {} and {} entries; expected {}, one for each row",
                        matrix->space.rank(), b, x, expected);
  comm_thread::collective_agree_on_error(matrix->space, fault);
}

void Solver::State::collective_renew_if_stale() {
  const bool is_stale = values_version != matrix->values_version && !settings.reuses_preconditioner;
  if (!is_to_renew && !(is_stale && preconditioner)) return;
  const perfmodel::Stopwatch watch;
  collective_renew();
  setup_seconds = watch.seconds();
}

void Solver::State::precondition(std::span<const double> r, std::span<double> z) {
  expect_lengths(r.size(), z.size());
  collective_renew_if_stale();
  if (!preconditioner) {
    std::ranges::copy(r, z.begin());
    return;
  }
  perfmodel::HugePageBuffer<double> from(matrix->op->element_count());
  perfmodel::HugePageBuffer<double> to(matrix->op->element_count());
  matrix->map->collective_to_operator(r, from.span());
  matrix->threads().team().run(
      [&](const TeamThread& thread) { preconditioner->apply(thread, from.data(), to.data()); });
  matrix->map->collective_from_operator(to.span(), z);
}

Report Solver::State::solve(std::span<const double> b, std::span<double> x, Start start) {
  expect_lengths(b.size(), x.size());
  const bool has_guess = start == Start::from_guess;
  if (has_guess && entry->needs_grid)
    throw InputError(std::string("Start::from_guess: found --method ") + entry->name +
                     "; expected another method, which may have --preconditioner multigrid");
  collective_renew_if_stale();
  history.clear();
  if (settings.has_history)
    history.reserve(
        static_cast<std::size_t>(std::min(settings.stop.max_iterations, reserved_history)));

  const perfmodel::Stopwatch solve_watch;
  std::span<const double> right_hand_side = b;
  std::span<const double> guess;
  if (!matrix->map->is_identity()) {
    matrix->map->collective_to_operator(b, b_.span());
    right_hand_side = b_.span();
    if (has_guess) matrix->map->collective_to_operator(x, guess_.span());
    guess = has_guess ? guess_.span() : guess_.span().first(0);
  } else if (has_guess) {
    guess = x;
  }
  const solver::SolveReport solved = method->solve(right_hand_side, guess);
  matrix->map->collective_from_operator(method->solution(), x);
  Report report = report_of(solved);
  report.solve_seconds = solve_watch.seconds();
  setup_seconds = 0;
  return report;
}

Report Solver::State::report_of(const solver::SolveReport& solved) const {
  Report report;
  report.status = status_of(solved.status);
  report.explanation = solved.explanation;
  report.method = entry->name;
  report.preconditioner = user                    ? "of the caller"
                          : settings.has_jacobi() ? "jacobi"
                                                  : settings.preconditioner;
  report.mode = settings.mode;
  report.method_choice = method_choice;
  report.iterations = solved.iterations;
  report.restarts = solved.restarts;
  report.relative_residual = solved.relative_residual;
  report.recurrence_residual = solved.recurrence_residual;
  report.setup_seconds = setup_seconds;
  report.history = history;
  for (std::size_t i = 0; i < perfmodel::phase_count; ++i) {
    const auto phase = static_cast<perfmodel::Phase>(i);
    report.phase_seconds.emplace_back(perfmodel::name(phase), solved.phases[phase]);
  }
  return report;
}

Solver::Solver(const Matrix& a, const Options& options)
    : state_(guarded([&] { return std::make_unique<State>(a.state(), options, std::nullopt); })) {}

Solver::Solver(const Matrix& a, const Options& options, const UserPreconditioner& preconditioner)
    : state_(guarded([&] { return std::make_unique<State>(a.state(), options, preconditioner); })) {
}

Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;
Solver::~Solver() = default;

Report Solver::solve(std::span<const double> b, std::span<double> x, Start start) {
  return guarded([&] { return state_->solve(b, x, start); });
}

void Solver::precondition(std::span<const double> r, std::span<double> z) {
  guarded([&] { state_->precondition(r, z); });
}

void Solver::set_monitor(Monitor monitor) { state_->monitor = std::move(monitor); }
void Solver::renew_preconditioner() { state_->is_to_renew = true; }

}  // namespace v0
}  // namespace weft
