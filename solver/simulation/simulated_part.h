#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/channels/channel_set.h"
#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/placement/compute_team.h"
#include "comm_thread/simulation/simulated_network.h"
#include "comm_thread/simulation/simulated_space.h"
#include "comm_thread/simulation/simulated_transport.h"
#include "comm_thread/termination/termination.h"
#include "comm_thread/waiting/team_barrier.h"
#include "solver/simulation/sweep_run_options.h"
#include "solver/simulation/sweep_simulation.h"
#include "solver/simulation/tree_reduction.h"
#include "solver/sweep/sweeper.h"

namespace weft::solver {

/// What all simulated ranks share.
struct SimulatedWorld {
  const SweepRunOptions& options;
  comm_thread::SimulatedNetwork& network;
  double threshold;  // of the sum of the contributions
  comm_thread::TeamBarrier barrier{1, comm_thread::WaitPolicy::yield};
  comm_thread::TeamThread thread{0, 1, &barrier};  // the team of each rank
};

/// One simulated rank: its values, and the real program's communication thread, channels
/// and termination detection.
///
/// Thread: that of the simulation. Lifetime: inside that of the world.
class SimulatedPart {
 public:
  SimulatedPart(const SimulatedWorld& world, int rank, SimulatedValues values);

  /// Rounds of the communication thread until nothing moves.
  void poll() {
    while (poll_once()) continue;
  }

  /// The same for schedules and termination alone. What has arrived on channels lands before the
  /// next sweep, which is the first to see it.
  void poll_schedules() {
    if (transport_) transport_->rest(true);
    poll();
    if (transport_) transport_->rest(false);
  }

  /// One round only: what has arrived lands.
  bool poll_once() {
    if (reduction_) reduction_->start_posted();
    return comm_thread_.poll();
  }

  std::span<const comm_thread::HaloNeighbour> neighbours() const { return neighbours_; }
  std::size_t neighbour_count() const { return neighbours_.size(); }
  /// Values packed and unpacked in a sweep.
  std::int64_t moved_values() const { return moved_values_; }
  std::int64_t sweep_count() const { return sweep_count_; }
  /// One of the values: differs where runs differ.
  double sample() const { return sample_(*sweeper_); }

  /// One sweep. Every `contribution_period` sweeps it contributes, and returns true.
  bool sweep();
  /// That of the last sweep that contributed.
  double contribution() const { return contribution_; }
  /// The contribution of the values and the halo in `state`, and the sum of the squares of their
  /// residuals.
  double contribution(SweepState state);
  double residual_square(SweepState state);
  /// The next sweep contributes again.
  void want_contribution() { next_contribution_ = sweep_count_; }

  /// Copies the values that neighbour number `i` needs to its part, beside all messages.
  void copy_to(std::size_t i, SimulatedPart& neighbour) const;

  // Asynchronous:
  /// Memory that the ranks use one after the other while they open their channels. If each had its
  /// own, what the next one keeps would fill the holes, far from what else it keeps.
  struct Plans {
    std::vector<comm_thread::ChannelSpec> channels;
    std::vector<comm_thread::LinkPlan> links;
  };
  /// `reduction`: of the rank, where it replaces the detector; outlives the part.
  void open_channels(comm_thread::Delivery delivery, TreeReduction* reduction, Plans& plans);
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
  /// a rank allocates one after the other: the part, landings, channels and the detector; small
  /// objects fill holes. Not all of it is needed, but what lies together is fetched quicker.
  struct Place {
    std::span<const std::byte> part{};  // up to the next one
    std::span<const std::byte> polled{};  // of the detector, if schedules serve it
    std::span<const std::byte> values_object{};
    std::span<const std::byte> values{};
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
    Traffic& operator+=(const Traffic& other) {
      sent_count += other.sent_count;
      skipped_count += other.skipped_count;
      used_count += other.used_count;
      staleness_sum += other.staleness_sum;
      return *this;
    }
    double mean_staleness() const {
      if (used_count == 0) return 0;
      return static_cast<double>(staleness_sum) / static_cast<double>(used_count);
    }
  };
  const Traffic& traffic() const { return traffic_; }

 private:
  const SimulatedWorld& world_;
  int rank_;
  std::unique_ptr<Sweeper> sweeper_;
  double (*sample_)(const Sweeper&);
  std::span<const std::byte> memory_;  // of the values
  std::span<const comm_thread::HaloNeighbour> neighbours_;
  comm_thread::SimulatedClock clock_;
  comm_thread::SimulatedSpace space_;
  comm_thread::CommThread comm_thread_;
  comm_thread::SimulatedTransport* transport_ = nullptr;  // of the channels
  TreeReduction* reduction_ = nullptr;
  std::unique_ptr<comm_thread::ChannelSet> channels_;
  std::unique_ptr<comm_thread::Termination> termination_;
  std::unique_ptr<comm_thread::HaloExchange<double>> halo_exchange_;
  std::optional<comm_thread::Pending> pending_;
  std::int64_t moved_values_ = 0;
  std::int64_t sweep_count_ = 0;
  std::int64_t next_contribution_ = 0;
  std::int64_t last_sent_ = 0;
  double contribution_;
  bool gives_up_ = false;
  std::vector<std::uint64_t> neighbours_iteration_;
  Traffic traffic_;
};

}  // namespace weft::solver
