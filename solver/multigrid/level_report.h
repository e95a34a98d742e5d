#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "solver/multigrid/gathering.h"
#include "spmv/rows/halo.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// Time that the primary thread has spent in the passes of one grid.
struct PassTimes {
  double seconds = 0;  // the exchange and the barrier at the end included
  double halo_wait_seconds = 0;  // of these
};

/// A pass down or up of one grid on this rank, over all cycles.
struct PassReport {
  PassTimes times;
  double model_bytes = 0;  // of one pass, all own points
  std::int64_t sent_bytes = 0;  // of one exchange
  int sent_messages = 0;
  spmv::Halo* halo = nullptr;  // what is exchanged beside the pass; null: nothing
};

/// One grid of a hierarchy on this rank. The coarsest has no pass up; its pass down is the direct
/// solution.
struct LevelReport {
  std::array<spmv::GlobalIndex, 3> size{};  // of the whole grid
  std::int64_t own_points = 0;
  PassReport down;
  PassReport up;
};

/// All grids, the finest first.
struct CycleReport {
  std::int64_t cycles = 0;
  int steps = 0;  // on the finest grid
  int coarse_steps = 0;  // on the others
  std::size_t value_bytes = sizeof(float);  // of a value of the hierarchy
  Gathering gathering;
  std::size_t allocated_bytes = 0;  // of the hierarchy on this rank
  std::vector<LevelReport> levels;
};

}  // namespace weft::solver
