#include "library/settings/method_choice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

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
  const comm_thread::Communicator& ranks = op.communicator();
  const solver::StopCriterion asked = options.stop;
  options.stop = {.tolerance = std::numeric_limits<double>::min()};
  options.on_iteration = nullptr;
  options.stops = nullptr;
  auto* const cycle = dynamic_cast<solver::MultigridPreconditioner*>(options.preconditioner);
  solver::Preconditioner* const given = options.preconditioner;
  solver::MethodUse use = KrylovMethod::use_of(op, options);
  use.is_grid = dynamic_cast<const spmv::StencilOperator*>(&op) != nullptr;
  const std::optional<spmv::GridStencil> grid = grid_of(op, cycle);
  MethodChoice best{&solver::krylov_methods().front(), ""};
  const bool has_multigrid = cycle || (use.is_grid && !given);
  if (grid && has_multigrid && needs_no_trial(*grid, asked)) {
    const bool has_bounds = !cycle || cycle->least_eigenvalue();
    return {.method = has_bounds ? &solver::multigrid_entry() : best.method,
            .why = fmt::format("{} is quickest without a trial: of cg alone {:.0f} iterations are "
                               "expected{}",
                               has_bounds ? "multigrid" : "cg with multigrid",
                               solver::forecast_iterations(false, *grid, asked),
                               has_bounds ? "" : ", or more")};
  }
  if (!grid) {
    best.why = why_plain(given, ranks.size());
    if (!best.why.empty()) return best;
  }
  const auto b = make_noise(op);
  double least = std::numeric_limits<double>::infinity();
  double expected = std::numeric_limits<double>::infinity();
  std::int64_t tried_iterations = 0;
  std::string trials;
  const auto name_of = [&](const KrylovEntry& entry) {
    const bool is_named = cycle && options.preconditioner && !entry.needs_grid;
    return std::string(entry.name) + (is_named ? " with multigrid" : "");
  };
  std::string best_name;
  const auto run = [&](const KrylovEntry& entry) {
    if (!grid && tried_iterations > 0 &&
        static_cast<double>(tried_iterations + trial_iterations) > most_share_of_trials * expected)
      return;
    const bool is_multigrid = entry.needs_grid || (cycle && options.preconditioner == given);
    options.stop.max_iterations =
        std::min(asked.max_iterations, is_multigrid ? grid_trial_iterations : trial_iterations);
    const auto method = entry.collective_make(op, options);
    const SolveReport trial = method->solve(b.span());
    if (tried_iterations == 0) expected = expected_iterations(trial, asked);
    tried_iterations += trial.iterations;
    const double seconds = ranks.max(trial.phases.total()) /
                           static_cast<double>(std::max<std::int64_t>(trial.iterations, 1));
    trials += fmt::format("{}{} {:.3f} ms ({:g} bytes a row)", trials.empty() ? "" : ", ",
                          name_of(entry), 1e3 * seconds, method->vector_bytes());
    double forecast = 1;
    if (grid) {
      forecast = solver::forecast_iterations(is_multigrid, *grid, asked);
      trials += fmt::format(" x {:.0f}", forecast);
    }
    if (seconds * forecast < least) {
      least = seconds * forecast;
      best.method = &entry;
      best.drops_preconditioner = given && !options.preconditioner;
      best_name = name_of(entry);
    }
  };
  for (const KrylovEntry& entry : solver::krylov_methods())
    if (is_candidate(entry, use, cycle && cycle->least_eigenvalue())) run(entry);
  if (cycle && may_drop) {
    options.preconditioner = nullptr;
    use.preconditioner = solver::MethodUse::Kind::none;
    for (const KrylovEntry& entry : solver::krylov_methods())
      if (!entry.needs_grid && is_candidate(entry, use, false)) run(entry);
  }
  best.why = fmt::format("{} is quickest{}: {}", best_name,
                         grid ? ", an iteration times those expected" : " in an iteration", trials);
  if (std::isfinite(expected) && !grid)
    best.why += fmt::format("; trials end at a tenth of the {:.0f} iterations expected", expected);
  return best;
}

}  // namespace weft::library
