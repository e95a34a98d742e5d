#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/channels/channel_set.h"
#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/simulation/simulated_network.h"
#include "comm_thread/simulation/simulated_space.h"
#include "comm_thread/simulation/simulated_transport.h"
#include "comm_thread/termination/termination.h"
#include "solver/simulation/jacobi_simulation.h"
#include "solver/simulation/part_shape.h"

namespace weft::solver {

/// What all simulated ranks share.
struct SimulatedWorld {
  const JacobiSimulationOptions& options;
  const PartShape& shape;
  comm_thread::SimulatedNetwork& network;
  double residual_bound;  // at least about the largest square of a residual
  double threshold;  // of the sum of the squares
  std::vector<double> scratch;  // new values of the sweep in progress
};

/// One simulated rank: its part of the grid, and the real program's communication thread, channels
/// and termination detection.
///
/// Thread: that of the simulation. Lifetime: inside that of the world.
class SimulatedPart {
 public:
  /// `values`: with the boundary values in the ghosts. Shape: [layout.element_count()].
  SimulatedPart(SimulatedWorld& world, int rank, std::span<double> values);

  /// Rounds of the communication thread until nothing moves.
  void poll() {
    while (comm_thread_.poll()) continue;
  }

  /// The same for schedules and termination alone. What has arrived on channels lands before the
  /// next sweep, which is the first to see it.
  void poll_schedules() {
    if (transport_) transport_->rest(true);
    poll();
    if (transport_) transport_->rest(false);
  }

  /// One round only: what has arrived lands.
  void poll_once() { comm_thread_.poll(); }

  std::size_t neighbour_count() const { return faces_.size(); }
  std::size_t face(std::size_t neighbour) const { return faces_[neighbour]; }
  const comm_thread::HaloNeighbour& neighbour(std::size_t i) const { return neighbours_[i]; }
  std::int64_t sweep_count() const { return sweep_count_; }
  std::span<double> values() { return values_; }

  /// One sweep; its values are current at once. Every `contribution_period` sweeps the squares of
  /// the residuals of the values before are added up. Returns true if they were.
  bool sweep();
  /// Squares of the residuals, by the last sweep that added them up.
  double contribution() const { return contribution_; }
  /// The next sweep adds them up again.
  void want_contribution() { next_contribution_ = sweep_count_; }

  /// Copies the values at a face to its neighbour's ghosts, beside all messages.
  void copy_face(std::size_t face, std::span<double> neighbours_values) const;
  /// Squares of the residuals of the current values and halos.
  double residual_square() const { return residual_square(values_); }

  // Asynchronous:
  void open_channels(comm_thread::Delivery delivery);
  /// Tells the detector of the last sweep.
  comm_thread::SweepAction after_sweep();
  void record_snapshot();
  void evaluate_snapshot();
  /// Takes what has arrived; sends where there is room, if it is time.
  void exchange();
  comm_thread::Termination& termination() { return *termination_; }
  /// Whether its last sweep led to the verification of the run.
  bool gives_up() const { return gives_up_; }

  // Synchronous:
  void open_exchange();
  /// Sends this sweep's values.
  void post_halo();
  /// Makes what has arrived the halo. Before: all of it has.
  void take_halo();

  /// Where what a step and a poll look at lies, as far as it lies together. The allocator puts what
  /// a rank allocates one after the other: channels behind the part, then the detector.
  struct Place {
    const std::byte* part = nullptr;
    const std::byte* comm_thread = nullptr;
    const std::byte* detector = nullptr;
    const std::byte* end = nullptr;
    const std::byte* values = nullptr;
    comm_thread::SimulatedTransport* transport = nullptr;
  };
  /// `end`: the next part.
  Place place(const std::byte* end) const;

  // The end: nothing is left in flight.
  void begin_close();
  bool is_drained() const;
  void end_close();

  struct Traffic {
    std::uint64_t sent_count = 0;
    std::uint64_t skipped_count = 0;
    std::uint64_t used_count = 0;
    std::uint64_t staleness_sum = 0;
  };
  const Traffic& traffic() const { return traffic_; }

 private:
  double residual_square(std::span<const double> values) const;

  SimulatedWorld& world_;
  int rank_;
  std::span<double> values_;
  std::vector<std::size_t> faces_;  // those with a neighbour, in the order of the neighbours
  std::vector<comm_thread::HaloNeighbour> neighbours_;
  comm_thread::SimulatedClock clock_;
  comm_thread::SimulatedSpace space_;
  comm_thread::CommThread comm_thread_;
  comm_thread::SimulatedTransport* transport_ = nullptr;  // of the channels
  std::unique_ptr<comm_thread::ChannelSet> channels_;
  std::unique_ptr<comm_thread::Termination> termination_;
  std::vector<double> halo_;
  std::unique_ptr<comm_thread::HaloExchange> halo_exchange_;
  std::optional<comm_thread::Pending> pending_;
  std::vector<double> recorded_;

  std::int64_t sweep_count_ = 0;
  std::int64_t next_contribution_ = 0;
  std::int64_t last_sent_ = 0;
  double contribution_;
  bool gives_up_ = false;
  std::array<std::uint64_t, 6> neighbours_iteration_{};
  Traffic traffic_;
};

}  // namespace weft::solver
