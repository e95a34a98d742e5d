#include "solver/report/columns_outcome.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "perfmodel/phase_times.h"

namespace weft::solver {
namespace {

/// How bad an outcome is.
std::ptrdiff_t badness(SolveStatus status) {
  constexpr std::array ascending{SolveStatus::converged,     SolveStatus::out_of_time,
                                 SolveStatus::not_converged, SolveStatus::stopped,
                                 SolveStatus::diverged,      SolveStatus::breakdown};
  return std::ranges::find(ascending, status) - ascending.begin();
}

}  // namespace

SolveReport worst_of(const std::vector<SolveReport>& reports) {
  SolveReport worst;
  worst.status = SolveStatus::converged;
  double groups = 0;  // of vectors that were solved for together
  for (const SolveReport& each : reports) {
    const double share = 1.0 / each.vectors_at_once;
    if (badness(each.status) > badness(worst.status)) worst.status = each.status;
    groups += share;
    worst.iterations += each.iterations;
    worst.restarts += each.restarts;
    worst.relative_residual = std::max(worst.relative_residual, each.relative_residual);
    worst.recurrence_residual = std::max(worst.recurrence_residual, each.recurrence_residual);
    if (each.scaled_residual)
      worst.scaled_residual = std::max(worst.scaled_residual.value_or(0), *each.scaled_residual);
    worst.solve_seconds += share * each.solve_seconds;
    worst.comm_thread_cpu_seconds += share * each.comm_thread_cpu_seconds;
    for (std::size_t p = 0; p < perfmodel::phase_count; ++p) {
      const auto phase = static_cast<perfmodel::Phase>(p);
      worst.phases[phase] += share * each.phases[phase];
    }
  }
  const auto failed = std::ranges::count_if(
      reports, [](const SolveReport& each) { return each.status != SolveStatus::converged; });
  if (failed > 0)
    worst.explanation = fmt::format("{} of {} columns have not converged", failed, reports.size());
  worst.vectors_at_once =
      static_cast<int>(std::lround(static_cast<double>(reports.size()) / groups));
  return worst;
}

}  // namespace weft::solver
