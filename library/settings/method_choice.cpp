#include "library/settings/method_choice.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "solver/methods/iteration_forecast.h"
#include "spmv/grid/stencil_operator.h"

namespace weft::library {
namespace {

using solver::KrylovEntry;
using solver::KrylovMethod;
using solver::SolveReport;

constexpr std::int64_t trial_iterations = 10;
constexpr std::int64_t grid_trial_iterations = 2;

/// True if `auto` may choose it for this operator.
bool is_candidate(const KrylovEntry& entry, int rank_count, const spmv::GridStencil* stencil,
                  const KrylovMethod::Options& options) {
  if (entry.needs_grid) return stencil && !options.preconditioner;
  return entry.is_cg_variant && !(entry.hides_reduction && rank_count == 1);
}

}  // namespace

MethodChoice collective_choose_method(spmv::LinearOperator& op, KrylovMethod::Options options,
                                      std::span<const double> b) {
  const comm_thread::Communicator& ranks = op.communicator();
  const solver::StopCriterion asked = options.stop;
  options.stop = {.tolerance = std::numeric_limits<double>::min()};
  options.on_iteration = nullptr;
  options.stops = nullptr;
  const auto* const grid = dynamic_cast<const spmv::StencilOperator*>(&op);
  const spmv::GridStencil* const stencil = grid ? &grid->stencil() : nullptr;
  MethodChoice best{&solver::krylov_methods().front(), ""};
  double least = std::numeric_limits<double>::infinity();
  std::string trials;
  for (const KrylovEntry& entry : solver::krylov_methods()) {
    if (!is_candidate(entry, ranks.size(), stencil, options)) continue;
    options.stop.max_iterations = entry.needs_grid ? grid_trial_iterations : trial_iterations;
    const auto method = entry.collective_make(op, options);
    const SolveReport trial = method->solve(b);
    const double seconds = ranks.max(trial.phases.total()) /
                           static_cast<double>(std::max<std::int64_t>(trial.iterations, 1));
    trials += fmt::format("{}{} {:.3f} ms ({:g} bytes a row)", trials.empty() ? "" : ", ",
                          entry.name, 1e3 * seconds, method->vector_bytes());
    double forecast = 1;
    if (stencil) {
      forecast = solver::forecast_iterations(entry, *stencil, asked);
      trials += fmt::format(" x {:.0f}", forecast);
    }
    if (seconds * forecast < least) {
      least = seconds * forecast;
      best.method = &entry;
    }
  }
  best.why =
      fmt::format("{} is quickest{}: {}", best.method->name,
                  stencil ? ", an iteration times those expected" : " in an iteration", trials);
  return best;
}

}  // namespace weft::library
