#pragma once

#include "solver/multigrid/passes/grid_pass.h"

namespace weft::solver {

// Bytes per point of a fused pass, with write-allocate, if every array goes through memory once;
// without those of couplings that vary (LevelCouplings). `coarse_share`: coarse points by fine
// ones. `keeps_x`: false where the way up computes x̂ again.

/// Reads f, or b and x, from which it makes f; writes f and x̂ where they are kept, and the coarse
/// f.
template <class Value>
double bytes_of_down_pass(const typename DownPass<Value>::Source& source, double coarse_share,
                          bool keeps_x) {
  constexpr double value = sizeof(Value);
  const double f = source.array ? value : 16;
  const double kept = source.copy ? 2 * value : 0;
  return f + kept + (keeps_x ? 2 * value : 0) + 2 * value * coarse_share;
}

/// Reads f, x̂ and the coarse e; writes e, beside which it may read r, or z, or reads and writes x
/// and its direction.
template <class Value>
double bytes_of_up_pass(const typename UpPass<Value>::Sink& sink, double coarse_share,
                        bool keeps_x) {
  constexpr double value = sizeof(Value);
  const double written = sink.array       ? 2 * value + (sink.r_dot_x ? 8 : 0)
                         : sink.direction ? 16 + 2 * value
                                          : 16;
  return (keeps_x ? 2 : 1) * value + written + value * coarse_share;
}

}  // namespace weft::solver
