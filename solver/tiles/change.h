#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "solver/tiles/schwarz_problem.h"
#include "solver/tiles/tile_box.h"
#include "solver/tiles/tile_halo.h"
#include "solver/tiles/tile_layout.h"

namespace weft::solver {

/// Upper bound on how much the boundary data of each tile of a rank has changed since the tile was
/// last solved: along an edge, the norm of the change of the neighbour's x one point further out
/// than the overlap − beta·x at the end of it. Each change by itself counts; corners do not.
/// Infinite before the first solution.
class TileChange {
 public:
  TileChange(const SchwarzProblem& problem, const TileLayout& layout, std::size_t tile_count);

  /// Thread: any, at any time.
  double of(std::size_t slot) const { return change_[slot].load(std::memory_order_relaxed); }
  /// The most of some tiles.
  double most_of(std::span<const std::size_t> slots) const;
  /// The tile is about to be solved. Called before the values are read that it is solved from, so
  /// that nothing that changes from now on is forgotten.
  void forget(std::size_t slot) { change_[slot].exchange(0, std::memory_order_acquire); }
  /// The own values of a tile have changed by `correction`; `neighbours`: its TileHalo strips.
  /// Called after others can read the new values.
  void tell(const TileBox& box, std::span<const double> correction,
            std::span<const TileHalo::LocalStrip> neighbours);
  /// `values` of the tile, as the layout says, are about to be replaced by `in` on the strip.
  void tell(const TileHalo::Strip& strip, const double* values, std::span<const double> in);

 private:
  template <class Change>
  double change_along(TileSide side, const Change& change) const;

  SchwarzProblem problem_;
  TileLayout layout_;
  std::vector<std::atomic<double>> change_;  // by slot
};

}  // namespace weft::solver
