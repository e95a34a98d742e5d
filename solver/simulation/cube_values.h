#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/engine/halo_exchange.h"
#include "solver/simulation/part_shape.h"
#include "solver/simulation/simulated_values.h"

namespace weft::solver {

/// What the cubes that one thread sweeps share.
struct CubeWorld {
  const PartShape& shape;
  double residual_bound;  // at least about the largest square of a residual
  std::vector<double> scratch;  // new values of the sweep in progress. Shape: [element_count]
};

/// One rank's cube of points, for Jacobi sweeps by the kernel of GridSweeper. Its contribution is
/// the sum of the squares of its residuals.
///
/// Lifetime: inside that of the world.
class CubeValues final : public SimulatedValues {
 public:
  /// `values`: with the boundary values in the ghosts. Shape: [layout.element_count()].
  CubeValues(CubeWorld& world, int rank, std::span<double> values);

  std::span<const comm_thread::HaloNeighbour> neighbours() const override { return neighbours_; }
  void pack(SweepState state, std::size_t neighbour, std::span<double> out) const override;
  void unpack(SweepState state, std::size_t neighbour, std::span<const double> in) override;
  double sweep(bool contributes) override;
  double contribution(SweepState state) override;
  double residual_square() override { return contribution(SweepState::current); }
  void record() override { recorded_.assign(values_.begin(), values_.end()); }
  double sample() const override { return values_[world_.shape.own(0).front()]; }
  std::span<const std::byte> memory() const override { return std::as_bytes(values_); }

 private:
  CubeWorld& world_;
  std::span<double> values_;
  std::array<std::uint8_t, 6> faces_{};  // those with a neighbour, in the order of the neighbours
  std::vector<comm_thread::HaloNeighbour> neighbours_;
  std::vector<double> recorded_;
};

}  // namespace weft::solver
