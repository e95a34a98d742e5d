#pragma once

#include <cstddef>
#include <span>

#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/placement/compute_team.h"
#include "comm_thread/waiting/team_barrier.h"
#include "solver/simulation/simulated_values.h"
#include "solver/tiles/schwarz_problem.h"
#include "solver/tiles/tile_partition.h"
#include "solver/tiles/tile_sweeper.h"

namespace weft::solver {

/// One rank's tile of optimized Schwarz, swept by the real program's TileSweeper. Its contribution
/// is the number of its tiles that have not converged.
///
/// Lifetime: inside that of `team`, which has one thread.
class TileValues final : public SimulatedValues {
 public:
  TileValues(const comm_thread::ComputeTeam& team, const SchwarzProblem& problem,
             const TilePartition& partition, int rank, double tolerance);

  std::span<const comm_thread::HaloNeighbour> neighbours() const override {
    return tiles_.neighbours();
  }
  void pack(SweepState state, std::size_t neighbour, std::span<double> out) const override {
    tiles_.pack(thread_, state, neighbour, out);
  }
  void unpack(SweepState state, std::size_t neighbour, std::span<const double> in) override {
    tiles_.unpack(thread_, state, neighbour, in);
  }
  double sweep(bool contributes) override;
  double contribution(SweepState state) override;
  double residual_square() override;
  void record() override { tiles_.record(thread_); }
  double sample() const override { return tiles_.value(0, 0, 0); }

 private:
  double square(SweepState state);

  comm_thread::TeamBarrier barrier_;
  comm_thread::TeamThread thread_;
  TileSweeper tiles_;
};

}  // namespace weft::solver
