#pragma once

#include "solver/multigrid/passes/grid_pass.h"

namespace weft::solver {

// Bytes per point of a fused pass, with write-allocate, if every array goes through memory once;
// without those of couplings that vary (LevelCouplings). `coarse_share`: coarse points by fine
// ones. `keeps_x`: false where the way up computes x̂ again.

/// Reads f, or b and x, from which it makes f; writes f and x̂ where they are kept, and the coarse
/// f.
inline double bytes_of_down_pass(const DownPass::Source& source, double coarse_share,
                                 bool keeps_x) {
  const double f = source.array ? 4 : 16;
  const double kept = source.copy ? 8 : 0;
  return f + kept + (keeps_x ? 8 : 0) + 8 * coarse_share;
}

/// Reads f, x̂ and the coarse e; writes e, or z, or reads and writes x and its direction.
inline double bytes_of_up_pass(const UpPass::Sink& sink, double coarse_share, bool keeps_x) {
  const double written = sink.array ? 8 : sink.direction ? 24 : 16;
  return (keeps_x ? 8 : 4) + written + 4 * coarse_share;
}

}  // namespace weft::solver
