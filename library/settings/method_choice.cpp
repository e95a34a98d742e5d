#include "library/settings/method_choice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "perfmodel/huge_page_buffer.h"
#include "solver/methods/iteration_forecast.h"
#include "solver/multigrid/multigrid_preconditioner.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/problems/random_numbers.h"
#include "spmv/rows/index.h"

namespace weft::library {
namespace {

using solver::KrylovEntry;
using solver::KrylovMethod;
using solver::SolveReport;

constexpr std::int64_t trial_iterations = 8;
constexpr std::int64_t grid_trial_iterations = 2;
/// Of the iterations that the first trial lets expect.
constexpr double most_share_of_trials = 0.1;
/// Iterations of conjugate gradients in the time of one of multigrid, or less. Where more are
/// expected, a trial of all would take longer than the solve, and multigrid is quicker anyway.
constexpr double iterations_of_cycle = 8;

/// The grid of the operator with constant coefficients, whose condition number is at most that of
/// an operator with others; nothing where it has none.
std::optional<spmv::GridStencil> grid_of(const spmv::LinearOperator& op,
                                         solver::MultigridPreconditioner* cycle) {
  if (const auto* const grid = dynamic_cast<const spmv::StencilOperator*>(&op))
    return grid->stencil();
  if (!cycle) return std::nullopt;
  return stencil_of(cycle->grid());
}

/// Iterations to the end if they gain as much each as those of a trial did.
double expected_iterations(const SolveReport& trial, const solver::StopCriterion& asked) {
  const double gained = std::log(trial.recurrence_residual);
  if (!(gained < 0)) return std::numeric_limits<double>::infinity();
  constexpr double least = std::numeric_limits<double>::epsilon();
  return static_cast<double>(trial.iterations) * std::log(std::max(asked.tolerance, least)) /
         gained;
}

/// A random right-hand side: ones are the solution of a matrix whose rows have equal sums, but for
/// a factor. Each page is touched by the thread that will use it.
perfmodel::HugePageBuffer<double> make_noise(const spmv::LinearOperator& op) {
  const auto seed = static_cast<std::uint64_t>(op.communicator().rank());
  perfmodel::HugePageBuffer<double> noise(op.element_count());
  op.team().run([&](const comm_thread::TeamThread& thread) {
    op.for_each_element(thread.index, [&](std::size_t i) {
      noise[i] = spmv::uniform(seed, static_cast<spmv::GlobalIndex>(i)) - 0.5;
    });
  });
  return noise;
}

/// Why `cg` needs no trial; empty where it does.
std::string why_plain(const solver::Preconditioner* preconditioner, int rank_count) {
  if (preconditioner && preconditioner->has_levels())
    return "cg without a trial: beside a preconditioner with levels a reduction takes little time";
  if (rank_count == 1)
    return "cg without a trial: one rank waits for no reduction, and cg moves the fewest bytes";
  return "";
}

/// Multigrid, or cg with it where nobody knows the bounds of its eigenvalues.
MethodChoice choose_multigrid(const spmv::GridStencil& grid,
                              const solver::MultigridPreconditioner* cycle,
                              const solver::StopCriterion& stop) {
  const bool has_bounds = !cycle || cycle->least_eigenvalue();
  return {.method = has_bounds ? &solver::multigrid_entry() : &solver::krylov_methods().front(),
          .why = fmt::format("{} is quickest without a trial: of cg alone {:.0f} iterations are "
                             "expected{}",
                             has_bounds ? "multigrid" : "cg with multigrid",
                             solver::forecast_iterations(false, grid, stop),
                             has_bounds ? "" : ", or more")};
}

/// Short runs of methods, of which the quickest is kept.
/// Functions are collective. Thread: the main thread, outside the team. Lifetime: `op` outlives it.
class MethodTrials {
 public:
  /// `grid`: whose iterations can be forecast; nothing: none is known.
  MethodTrials(spmv::LinearOperator& op, KrylovMethod::Options options,
               const std::optional<spmv::GridStencil>& grid)
      : op_(op),
        options_(std::move(options)),
        asked_(options_.stop),
        grid_(grid),
        has_preconditioner_(options_.preconditioner != nullptr),
        has_cycle_(dynamic_cast<solver::MultigridPreconditioner*>(options_.preconditioner)),
        b_(make_noise(op)) {
    options_.stop = {.tolerance = std::numeric_limits<double>::min()};
    options_.on_iteration = nullptr;
    options_.stops = nullptr;
  }

  /// Those that follow go without.
  void drop_preconditioner() {
    options_.preconditioner = nullptr;
    has_cycle_ = false;
  }

  /// Runs a method; without a grid only as long as trials take a small share of a solve.
  void collective_try(const KrylovEntry& entry) {
    if (!grid_ && tried_iterations_ > 0 &&
        static_cast<double>(tried_iterations_ + trial_iterations) >
            most_share_of_trials * expected_)
      return;
    const bool is_multigrid = entry.needs_grid || has_cycle_;
    options_.stop.max_iterations =
        std::min(asked_.max_iterations, is_multigrid ? grid_trial_iterations : trial_iterations);
    const auto method = entry.collective_make(op_, options_);
    const SolveReport trial = method->solve(b_.span());
    if (tried_iterations_ == 0) expected_ = expected_iterations(trial, asked_);
    tried_iterations_ += trial.iterations;
    const double seconds = op_.communicator().max(trial.phases.total()) /
                           static_cast<double>(std::max<std::int64_t>(trial.iterations, 1));
    const std::string name =
        std::string(entry.name) + (has_cycle_ && !entry.needs_grid ? " with multigrid" : "");
    trials_ += fmt::format("{}{} {:.3f} ms ({:g} bytes a row)", trials_.empty() ? "" : ", ", name,
                           1e3 * seconds, method->vector_bytes());
    const double forecast = grid_ ? solver::forecast_iterations(is_multigrid, *grid_, asked_) : 1;
    if (grid_) trials_ += fmt::format(" x {:.0f}", forecast);
    if (!(seconds * forecast < least_)) return;
    least_ = seconds * forecast;
    best_.method = &entry;
    best_.drops_preconditioner = has_preconditioner_ && !options_.preconditioner;
    best_name_ = name;
  }

  MethodChoice best() const {
    MethodChoice best = best_;
    best.why =
        fmt::format("{} is quickest{}: {}", best_name_,
                    grid_ ? ", an iteration times those expected" : " in an iteration", trials_);
    if (std::isfinite(expected_) && !grid_)
      best.why +=
          fmt::format("; trials end at a tenth of the {:.0f} iterations expected", expected_);
    return best;
  }

 private:
  spmv::LinearOperator& op_;
  KrylovMethod::Options options_;
  solver::StopCriterion asked_;
  std::optional<spmv::GridStencil> grid_;
  bool has_preconditioner_;  // in the solve that is asked for
  bool has_cycle_;  // in the next trial
  perfmodel::HugePageBuffer<double> b_;
  double least_ = std::numeric_limits<double>::infinity();
  double expected_ = std::numeric_limits<double>::infinity();
  std::int64_t tried_iterations_ = 0;
  std::string trials_;
  std::string best_name_;
  MethodChoice best_{&solver::krylov_methods().front(), ""};
};

}  // namespace

bool is_candidate(const KrylovEntry& entry, const solver::MethodUse& use, bool has_cycle) {
  if (entry.needs_grid) return has_cycle || (use.is_grid && use.is_plain());
  return entry.is_cg_variant &&
         !(entry.hides_reduction && (use.rank_count == 1 || use.is_general()));
}

spmv::GridStencil stencil_of(const spmv::GridSize& grid) {
  // A plane is not coupled across: else few iterations would be expected of it.
  return {.grid = grid, .weights = {1, grid.y > 1 ? 1.0 : 0.0, grid.z > 1 ? 1.0 : 0.0}};
}

bool needs_no_trial(const spmv::GridStencil& grid, const solver::StopCriterion& stop) {
  return solver::forecast_iterations(false, grid, stop) >
         iterations_of_cycle * solver::forecast_iterations(true, grid, stop);
}

MethodChoice collective_choose_method(spmv::LinearOperator& op, KrylovMethod::Options options,
                                      bool may_drop) {
  auto* const cycle = dynamic_cast<solver::MultigridPreconditioner*>(options.preconditioner);
  solver::MethodUse use = KrylovMethod::use_of(op, options);
  use.is_grid = dynamic_cast<const spmv::StencilOperator*>(&op) != nullptr;
  const std::optional<spmv::GridStencil> grid = grid_of(op, cycle);
  const bool has_multigrid = cycle || (use.is_grid && !options.preconditioner);
  if (grid && has_multigrid && needs_no_trial(*grid, options.stop))
    return choose_multigrid(*grid, cycle, options.stop);
  if (!grid) {
    const std::string why = why_plain(options.preconditioner, op.communicator().size());
    if (!why.empty()) return {&solver::krylov_methods().front(), why};
  }
  MethodTrials trials(op, std::move(options), grid);
  for (const KrylovEntry& entry : solver::krylov_methods())
    if (is_candidate(entry, use, cycle && cycle->least_eigenvalue())) trials.collective_try(entry);
  if (cycle && may_drop) {
    trials.drop_preconditioner();
    use.preconditioner = solver::MethodUse::Kind::none;
    for (const KrylovEntry& entry : solver::krylov_methods())
      if (!entry.needs_grid && is_candidate(entry, use, false)) trials.collective_try(entry);
  }
  return trials.best();
}

}  // namespace weft::library
