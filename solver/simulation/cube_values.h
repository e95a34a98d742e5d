#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/simulation/part_shape.h"
#include "solver/sweep/sweeper.h"

namespace weft::solver {

/// What the cubes that one thread sweeps share.
struct CubeWorld {
  const PartShape& shape;
  const comm_thread::ComputeTeam& team;  // of one
  double residual_bound;  // at least about the largest square of a residual
  std::vector<double> scratch;  // new values of the sweep in progress. Shape: [element_count]
};

/// One rank's cube of points, for Jacobi sweeps by the kernel of GridSweeper, in a third of its
/// memory: a sweep's values are current at once.
///
/// Lifetime: inside that of the world.
class CubeValues final : public Sweeper {
 public:
  /// `values`: with the boundary values in the ghosts. Shape: [layout.element_count()].
  CubeValues(CubeWorld& world, int rank, std::span<double> values);

  const comm_thread::ComputeTeam& team() const override { return world_.team; }
  std::span<const comm_thread::HaloNeighbour> neighbours() const override { return neighbours_; }
  void pack(const comm_thread::TeamThread& thread, SweepState state, std::size_t neighbour,
            std::span<double> out) const override;
  void unpack(const comm_thread::TeamThread& thread, SweepState state, std::size_t neighbour,
              std::span<const double> in) override;
  void sweep(const comm_thread::TeamThread& thread, SweepPart part,
             comm_thread::ExactAccumulator* residual_square) override;
  void finish_sweep() override {}
  void add_residual(const comm_thread::TeamThread& thread, SweepState state,
                    comm_thread::ExactAccumulator& residual_square) override;
  void record(const comm_thread::TeamThread& /*thread*/) override {
    recorded_.assign(values_.begin(), values_.end());
  }
  double sample() const { return values_[world_.shape.own(0).front()]; }

 private:
  CubeWorld& world_;
  std::span<double> values_;
  std::array<std::uint8_t, 6> faces_{};  // those with a neighbour, in the order of the neighbours
  std::vector<comm_thread::HaloNeighbour> neighbours_;
  std::vector<double> recorded_;
};

}  // namespace weft::solver
