#include "solver/spectrum/spectral_interval.h"

#include <algorithm>
#include <cstdint>

#include "solver/panels/lanczos_recurrence.h"

namespace weft::solver {
namespace {

constexpr std::int64_t most_steps = 40;
/// Of the width, that the interval is wider on each side.
constexpr double margin = 0.01;

}  // namespace

SpectralInterval collective_widest_interval(const spmv::SparseOperator& op) {
  const double norm = op.collective_norm();
  const double most = norm > 0 ? norm : 1.0;
  return {.least = -most, .greatest = most};
}

SpectralInterval collective_spectral_interval(spmv::SparseOperator& op, spmv::Mode mode) {
  LanczosRecurrence recurrence(op, mode);
  recurrence.collective_go_on(std::min(most_steps, op.global_row_count()));
  const RitzValues ritz = recurrence.ritz_values();
  const SpectralInterval widest = collective_widest_interval(op);
  const double least = ritz.values.front() - ritz.errors.front();
  const double greatest = ritz.values.back() + ritz.errors.back();
  // Equal eigenvalues leave no width; neighbouring numbers leave none that products can resolve.
  const double room = std::max(margin * (greatest - least), 1e-6 * widest.greatest);
  return {.least = std::max(least - room, widest.least - room),
          .greatest = std::min(greatest + room, widest.greatest + room)};
}

}  // namespace weft::solver
