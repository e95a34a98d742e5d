#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "solver/tiles/partition.h"
#include "solver/tiles/schwarz_problem.h"

namespace weft::tests {

/// Optimized Schwarz on one thread with dense matrices, straight from its definition: what
/// everything else is compared with.
class SchwarzReference {
 public:
  explicit SchwarzReference(const solver::SchwarzProblem& problem);

  /// x at a point of the grid; 0 outside of it.
  double value(int x, int y) const;
  /// All subdomains solve from the same values.
  void sweep();
  /// Subdomains solve one after the other from the current values, first to last or last to first.
  /// Only those whose boundary data has changed by at least 0.6 times the largest change at the
  /// beginning: infinite for a subdomain that has not solved yet, later the sum of the norms of
  /// every change along each edge. Returns the number that solved.
  int sweep_in_turn(bool is_forward);
  /// Subdomains of other ranks are seen as they were before the last `sweep`.
  void sweep_without_exchange(const solver::TilePartition& partition);
  /// Subdomains with ‖b − A·x‖ >= tolerance·‖b‖ on their own points.
  int unconverged_count(double tolerance) const;
  /// ‖b − A·x‖² of the whole grid.
  double residual_square() const;
  /// Sweeps until all have converged, at most `most`.
  int sweep_to(double tolerance, int most);

 private:
  struct Subdomain {
    int x_own = 0, y_own = 0;  // first own point
    int x_begin = 0, x_end = 0, y_begin = 0, y_end = 0;  // with the overlap
    bool west = false, east = false, south = false, north = false;  // is there another one
    std::vector<std::vector<double>> factors;  // dense L·U of its matrix
    double news = std::numeric_limits<double>::infinity();  // in `sweep_in_turn`
  };

  double b(int x, int y) const;
  double residual(int x, int y) const;
  std::vector<std::vector<double>> factored_matrix(const Subdomain& part) const;
  /// Change of the boundary data of subdomain `part`, without the corners of the overlap, caused by
  /// `change` of the values of the whole grid.
  double news_of(const Subdomain& part, const std::vector<double>& change) const;
  /// Values of the whole grid as this subdomain sees them → its solution.
  std::vector<double> solve(const Subdomain& part, const std::vector<double>& seen) const;
  /// Writes the own points of a subdomain.
  void keep_own(const Subdomain& part, const std::vector<double>& solution,
                std::vector<double>& values) const;
  double value_in(const std::vector<double>& values, int x, int y) const;
  int tile_at(int x, int y) const;

  solver::SchwarzProblem problem_;
  int side_;
  std::vector<Subdomain> parts_;
  std::vector<double> x_;
  std::vector<double> exchanged_;  // before the last `sweep`
};

}  // namespace weft::tests
