#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "comm_thread/engine/halo_exchange.h"
#include "solver/sweep/sweeper.h"

namespace weft::solver {

/// The values that one simulated rank sweeps, and its halo: real ones, of a part smaller than the
/// one that time is charged for.
///
/// Thread: that of the simulation.
class SimulatedValues {
 public:
  virtual ~SimulatedValues() = default;

  /// As those of a Sweeper: they ascend, and their ranges tile one buffer to send and one to
  /// receive.
  virtual std::span<const comm_thread::HaloNeighbour> neighbours() const = 0;

  /// Copies the values that neighbour number `neighbour` needs. Shape: out: [send_count].
  virtual void pack(SweepState state, std::size_t neighbour, std::span<double> out) const = 0;
  /// Makes `in` the halo from neighbour number `neighbour`. Shape: in: [receive_count].
  virtual void unpack(SweepState state, std::size_t neighbour, std::span<const double> in) = 0;

  /// One sweep; its values are current at once. Returns the contribution of the values before it to
  /// the number that ends the run, or anything unless `contributes`.
  virtual double sweep(bool contributes) = 0;
  /// Contribution of the values and the halo in `state`.
  virtual double contribution(SweepState state) = 0;
  /// Squares of the residuals of the current values and halo.
  virtual double residual_square() = 0;
  /// Records the current values, for a snapshot.
  virtual void record() = 0;

  /// One of the values: differs where runs differ.
  virtual double sample() const = 0;
  /// What a sweep reads, as far as it lies together.
  virtual std::span<const std::byte> memory() const { return {}; }
};

}  // namespace weft::solver
