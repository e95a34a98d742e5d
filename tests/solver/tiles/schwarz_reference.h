#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "solver/tiles/schwarz_problem.h"
#include "solver/tiles/tile_partition.h"

namespace weft::tests {

/// Optimized Schwarz on one thread with dense matrices, straight from its definition: what
/// everything else is compared with.
class SchwarzReference {
 public:
  explicit SchwarzReference(const solver::SchwarzProblem& problem);

  /// x at a point of the grid; 0 outside of it.
  double value(int x, int y) const;
  /// All tiles solve from the same values.
  void sweep();
  /// One tile after the other solves from what is there then; or the last first. Only those
  /// with at least 0.6 times as much change as any other at the beginning: a tile has endless
  /// change before it solves first; then it adds up the norm of every change along each edge in
  /// what it solves from. Returns how many solved.
  int sweep_in_turn(bool is_forward);
  /// Tiles of other ranks are seen as they were before the last `sweep`.
  void sweep_without_exchange(const solver::TilePartition& partition);
  /// Tiles with ‖b − A·x‖ >= tolerance·‖b‖ on their own points.
  int unconverged_count(double tolerance) const;
  /// ‖b − A·x‖² of the whole grid.
  double residual_square() const;
  /// Sweeps until all have converged, at most `most`.
  int sweep_to(double tolerance, int most);

 private:
  struct Tile {
    int x_own = 0, y_own = 0;  // first own point
    int x_begin = 0, x_end = 0, y_begin = 0, y_end = 0;  // with the overlap
    bool west = false, east = false, south = false, north = false;  // is there another one
    std::vector<std::vector<double>> factors;  // dense L·U of its matrix
    double change = std::numeric_limits<double>::infinity();  // in `sweep_in_turn`
  };

  double b(int x, int y) const;
  double residual(int x, int y) const;
  std::vector<std::vector<double>> factored_matrix(const Tile& part) const;
  /// By how much `change` of the values of the whole grid changes what tile `part` solves from
  /// along its edges, but for the overlap's corners.
  double edge_change(const Tile& part, const std::vector<double>& change) const;
  /// Values of the whole grid as this tile sees them → its solution.
  std::vector<double> solve(const Tile& part, const std::vector<double>& seen) const;
  /// Writes the own points of a tile.
  void keep_own(const Tile& part, const std::vector<double>& solution,
                std::vector<double>& values) const;
  double value_in(const std::vector<double>& values, int x, int y) const;
  int tile_at(int x, int y) const;

  solver::SchwarzProblem problem_;
  int side_;
  std::vector<Tile> parts_;
  std::vector<double> x_;
  std::vector<double> exchanged_;  // before the last `sweep`
};

}  // namespace weft::tests
