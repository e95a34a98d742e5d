#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "solver/direct/cholmod_factor.h"
#include "solver/tiles/tile_box.h"
#include "solver/tiles/tile_layout.h"

namespace weft::solver {

/// The second level of a Schwarz method on q×q tiles: functions that are bilinear on every tile,
/// one for each point where four tiles meet, and the system Pᵀ·A·P·c = Pᵀ·r between them.
///
///     q = 3      0─────0─────0─────0     (q+1)×(q+1) nodes, numbered row by row, at half a point
///                │     │     │     │     from the tiles' own points; the outer ones lie on the
///                0─────1─────1─────0     boundary, where all functions are 0
///                │     │     │     │
///                0─────1─────1─────0
///                │     │     │     │
///                0─────0─────0─────0
///
/// Pᵀ·r either from residuals: a tile's share is four numbers, one for each of its corners, which
/// are summed in one order wherever the tile lives. Or from values, as Pᵀ·b − (A·P)ᵀ·x, for which
/// no tile has to know another's, so that values of different moments make one consistent sum:
/// residuals of tiles that disagree about what lies between them by d shift the coarse solution by
/// d·q·m/4. A·P vanishes but on the outermost points of tiles. Pᵀ·A·P is exact: nodes two apart
/// have an entry, too. Without it, 48×48 tiles take 131 iterations instead of 45. Memory:
/// 8·(q+1)² values, and the factor.
class LinearCoarseSpace {
 public:
  static constexpr std::size_t shares_per_tile = 4;

  /// Throws comm_thread::InputError where there is no inner node, or functions are not independent.
  LinearCoarseSpace(int tiles_per_side, int points_per_side);

  std::size_t unknown_count() const {
    return static_cast<std::size_t>(tiles_per_side_ - 1) *
           static_cast<std::size_t>(tiles_per_side_ - 1);
  }
  std::size_t share_count() const {
    return shares_per_tile * static_cast<std::size_t>(tiles_per_side_) *
           static_cast<std::size_t>(tiles_per_side_);
  }
  std::size_t node_count() const {
    return static_cast<std::size_t>(tiles_per_side_ + 1) *
           static_cast<std::size_t>(tiles_per_side_ + 1);
  }

  /// The share of `tile` in Pᵀ·r, r taken to be 0 outside of `frame`. Shape: r: [box];
  /// share: [shares_per_tile].
  void restrict_to_corners(int tile, const TileBox& box, const BoxFrame& frame,
                           std::span<const double> r, std::span<double> share) const;

  /// nodes = Pᵀ·r. Shape: shares: [share_count], tile by tile; nodes: [node_count].
  void sum_shares(std::span<const double> shares, std::span<double> nodes) const;

  /// nodes += the share of `tile`. Shape: share: [shares_per_tile]; nodes: [node_count].
  void add_share(int tile, std::span<const double> share, std::span<double> nodes) const;

  /// nodes -= what the own values of `tile` have in (A·P)ᵀ·x. Shape: values: as `layout` says;
  /// nodes: [node_count].
  void subtract_product(int tile, const TileLayout& layout, const double* values,
                        std::span<double> nodes) const;

  /// Solves for c from Pᵀ·r. Shape: both [node_count]. Thread: one at a time.
  void solve(std::span<const double> nodes, std::span<double> c);

  /// c where P·c on one tile comes from: below on the left and on the right, then above.
  using Corners = std::array<double, 4>;
  /// Those for `area` of `tile`, all of which lies in one tile. Shape: c: [node_count].
  Corners corners_around(int tile, const TileArea& area, std::span<const double> c) const;
  /// values += P·c on `area` of `tile`, all of which lies in one tile. Shape: values: as `layout`
  /// says.
  void add(int tile, const TileArea& area, const TileLayout& layout, const Corners& c,
           double* values) const;

 private:
  LowerTriangle matrix() const;
  std::size_t node(int column, int row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(tiles_per_side_ + 1) +
           static_cast<std::size_t>(column);
  }
  /// The function of the nodes in column `node` at grid line x, and what −1, 2, −1 makes of it.
  double function(int node, int x) const;
  double second_difference(int node, int x) const {
    return 2 * function(node, x) - function(node, x - 1) - function(node, x + 1);
  }
  /// Weight of the node on the right in the value at grid line x.
  double right_weight(int x) const { return right_weight_[static_cast<std::size_t>(x)]; }

  int tiles_per_side_;
  int points_per_side_;
  std::vector<double> right_weight_;  // [grid side]
  std::unique_ptr<CholmodFactor> factor_;
  std::vector<double> right_hand_side_;  // [unknown_count]
};

}  // namespace weft::solver
