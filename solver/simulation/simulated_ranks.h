#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/simulation/network_group.h"
#include "comm_thread/simulation/simulated_network.h"
#include "solver/simulation/event_queue.h"
#include "solver/simulation/machine_model.h"
#include "solver/simulation/simulated_part.h"
#include "solver/simulation/sweep_run_options.h"
#include "solver/simulation/sweep_simulation.h"
#include "solver/simulation/tree_reduction.h"

namespace weft::solver {

/// The ranks of one thread, and what happens next on them.
struct alignas(64) SweepLane {
  SweepLane(const SweepRunOptions& options, comm_thread::SimulatedNetwork& its_network,
            double threshold)
      : network(its_network), world{options, its_network, threshold} {}

  double next_seconds() const {
    return events.is_empty() ? std::numeric_limits<double>::infinity() : events.next().seconds;
  }
  std::size_t index = 0;
  comm_thread::SimulatedNetwork& network;
  SimulatedWorld world;
  EventQueue events{};
  EventQueue far_steps{};  // those of them whose ranks have neighbours on other lanes
  std::vector<int> far_tree{};  // ranks with tree neighbours there
  double far_tree_seconds = 0;  // they send nothing to each other before
  std::uint64_t event_count = 0;
  std::uint64_t verification_count = 0;  // that it has left
  double met_seconds = 0;  // when the last rank came to the verification
  bool has_converged = false;
  double end_seconds = 0;
  std::atomic<bool> is_left{false};  // by its thread
};

/// The ranks of a run of sweeps: what each does when an event of it happens. What is called "rank"
/// here is simulated.
///
/// Memory ordering: the last rank to come to a verification writes its result before it counts it,
/// with release; the other lanes load the count with acquire before they read the result.
/// Thread: `happen` and `follow_verification` from that of the lane, everything else before the
/// threads start or after they end. Lifetime: all that is given outlives it.
class SimulatedRanks {
 public:
  using Lanes = std::vector<std::unique_ptr<SweepLane>>;

  SimulatedRanks(const SweepRunOptions& options, const SweepCase& what, MachineModel& model,
                 comm_thread::NetworkGroup& networks, const Lanes& lanes);

  /// All ranks of the lane begin.
  void begin(SweepLane& lane);
  /// The next event of the lane.
  void happen(SweepLane& lane);
  /// The lane sends nothing to others before.
  double earliest_letter(SweepLane& lane) const;
  /// Takes the lane's ranks on where all ranks have verified and it does not know of it yet.
  void follow_verification(SweepLane& lane) {
    if (verification_count() == lane.verification_count) return;
    networks_.count_service(lane.index);
    take_on(lane);
  }

  std::span<const std::unique_ptr<SimulatedPart>> parts() const { return parts_; }
  /// Makes the newest values of all neighbours the halos, beside all messages.
  void refresh_halos();
  std::uint64_t verification_count() const {
    return verification_count_.load(std::memory_order_acquire);
  }
  /// In which a rank had nothing to do; of all ranks.
  double waited_seconds() const;

 private:
  bool is_sync() const { return options_.variant == SimulatedVariant::sync; }
  void make_reductions();
  void make_parts();
  void find_far_ranks();
  void push_step(SweepLane& lane, int rank, double seconds);

  void due(SweepLane& lane, int rank, double seconds);
  double compute_seconds(int rank, const SimulatedPart& part) const;

  void step_async(SweepLane& lane, int rank);
  void go_on_async(SweepLane& lane, int rank);
  void begin_sync(SweepLane& lane, int rank);
  void post_halo(SweepLane& lane, int rank);
  void finish_halo(SweepLane& lane, int rank, double arrived);
  void step_sync(SweepLane& lane, int rank);
  /// The rank waits for all others; the last one takes them on.
  void meet(SweepLane& lane, int rank);
  double verified_after(double seconds) const;
  void verify_together(SweepLane& lane);
  /// The ranks of the lane go on after a verification.
  void take_on(SweepLane& lane);
  void leave_verification(SweepLane& lane, int rank);
  double true_value();

  void fetch_ahead(const SweepLane& lane) const;
  void fetch_poll_ahead(const SweepLane& lane, std::size_t first, std::size_t second) const;

  const SweepRunOptions& options_;
  const SweepCase& what_;
  MachineModel& model_;
  comm_thread::NetworkGroup& networks_;
  const Lanes& lanes_;
  std::vector<TreeReduction> reductions_;  // of the ranks, or none
  std::vector<std::unique_ptr<SimulatedPart>> parts_;
  std::vector<SimulatedPart::Place> places_;  // of their memory
  std::vector<double> sweep_begin_;  // of synchronous ranks
  std::vector<double> interior_fraction_;  // of their sweeps: what the halo is not waited for
  std::vector<unsigned char> is_inside_;  // overlap mode: in the interior, before the halo leaves
  double value_seconds_;  // to pack or unpack one value
  double verification_seconds_;  // at least, before a rank goes on
  double lookahead_;  // of the network

  // State of each rank.
  std::vector<unsigned char> has_begun_;
  std::vector<unsigned char> is_meeting_;
  std::vector<unsigned char> is_far_;  // it has neighbours on other lanes
  std::vector<double> waited_;

  // State of verifications.
  double true_value_ = 0;  // of all contributions
  double verified_seconds_ = 0;
  std::atomic<int> meeting_count_{0};
  std::atomic<std::uint64_t> verification_count_{0};
};

}  // namespace weft::solver
