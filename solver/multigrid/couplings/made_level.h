#pragma once

#include <array>

#include "comm_thread/placement/compute_team.h"
#include "solver/multigrid/couplings/coupling_view.h"
#include "solver/multigrid/couplings/grid_couplings.h"
#include "solver/multigrid/grids/level_couplings.h"
#include "spmv/grid/grid_box.h"

namespace weft::solver {

/// Couplings below this much of the largest are none, and diagonals are at least so large: single
/// precision holds them and their inverses.
inline constexpr double least_value = 1e-30;

/// What is made of the couplings of one grid.
struct LevelMaking {
  CouplingView from;  // own couplings and a halo
  /// Directions at whose ends x is given, where `from` does not yet have couplings with the
  /// boundary but excess: on the finest grid. Null on others.
  const std::array<bool, 3>* has_boundary = nullptr;
  std::array<bool, 3> is_coarsened{};
  spmv::GridBox passed;  // points that the passes of this rank read
  spmv::GridBox own;  // points of this rank
};

/// The couplings of the next grid, for as many points as `from` allows, and what comes with them.
template <class Value>
struct MadeLevel {
  GridCouplings coarse;
  LevelCouplings<Value> couplings;  // of this grid
  double least_diagonal = 1;  // of own points, at most 1
};

/// Makes a level in one pass over `from`. Each thread has a part of the planes, or of rows where
/// planes are few, and makes what it needs around it itself:
///
///     plane z of `from` ─┬─ couplings and diagonal in the precision of the passes
///                        └─ coarsened in x ─ in y ─ in z ─ plane of the next grid
///
/// All but the first and the last stays in cache. Thread: the main thread, outside the team.
template <class Value>
MadeLevel<Value> make_varying_level(const comm_thread::ComputeTeam& team,
                                    const LevelMaking& making);

}  // namespace weft::solver
