#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/engine/binary_tree.h"
#include "comm_thread/simulation/simulated_network.h"
#include "comm_thread/termination/detector.h"
#include "comm_thread/termination/reduction_protocol.h"
#include "comm_thread/termination/sweep_signal.h"

namespace weft::solver {

/// The detector `residual` on one simulated rank, in a few cache lines: what the real program does
/// by ReductionDetector, ContinuousReduction and the schedule of AllReduce. Conclusions are those
/// of ReductionProtocol. The messages are the same at the same times, and so are all results: tests
/// compare the two (SweepRunOptions::reduces_by_schedules).
///
///     leaf      rest ─► sends up ───────────────────► result ─► rest …
///     others    rest ─► children's, sends up ───────► result, sends down ─► rest …
///     root      rest ─► children's, sends down ─► rest …
///
/// Two kinds of events of the schedules are left out, because nobody sees them: the end of a rest
/// where children's messages are waited for anyway, and the arrival of a result at a leaf, which
/// looks for it in its next sweep or at the end of its rest.
///
/// Thread: that of the network, but for `edges` of other ranks, which are passed to
/// SimulatedNetwork::send. Lifetime: inside that of the network.
class alignas(64) TreeReduction {
 public:
  /// Those of the ranks of `networks`, which share all ranks; in the order of the ranks.
  static std::vector<TreeReduction> make(std::span<comm_thread::SimulatedNetwork* const> networks,
                                         const comm_thread::ReductionProtocol::Options& options);

  /// What Detector::progress does; `signal`: the newest of the rank.
  bool progress(const comm_thread::SweepSignal& signal);

  /// Begins a round that `progress` has found to be due. Before each round of the communication
  /// thread, which begins with what was posted.
  void start_posted() {
    if (phase_ == Phase::posted) start();
  }

  /// When the rank's next event has to happen, if the last message that it waits for arrives at
  /// `seconds`, or if it has announced an event for that time.
  double event_seconds(double seconds);

  /// What is due now; false: nothing is.
  bool happen();

  /// True if the parent or a child is on another network.
  bool has_far_neighbour() const;

  /// The rank sends nothing to its parent and children before this time, beside what it sends in
  /// its next step. `now`: of the next event on its network; `earliest_arrival`: of what other
  /// networks will send; `hop`: the least time of a message between nodes.
  ///
  /// It waits for another rank, which waits for another one, and so on to one that is at rest.
  double earliest_send(double now, double earliest_arrival, double hop) const;

  /// The next step of the rank; none: infinity.
  void expect_step(double seconds) { next_step_ = seconds; }

  const comm_thread::SweepOrder& order() const { return protocol_.order(); }
  bool is_stopped() const { return phase_ == Phase::stopped; }

  /// Fetches what an event of the rank needs of its parent and children into the caches. Before:
  /// the rank itself.
  void fetch_neighbours(comm_thread::FetchQueue& fetches) const;

 private:
  using Edge = comm_thread::SimulatedNetwork::Edge;
  using Values = std::array<double, Edge::value_count>;

  enum class Phase : std::uint8_t {
    resting,  // a leaf, or before the first round
    posted,
    gathering,  // the children's messages; at rest until `begin_`
    sent,  // the result comes next
    stopped,
  };

  TreeReduction(comm_thread::SimulatedNetwork& network, int rank,
                const comm_thread::ReductionProtocol::Options& options);

  bool is_leaf() const { return tree_.child_count == 0; }
  double now() const { return network_->now(); }
  TreeReduction& other(int rank) const { return first_[rank]; }
  /// The edge on which this rank's messages to its parent go. Not for the root.
  Edge& to_parent() const;
  Values contribution() const;
  void note_change() { has_changed_ = contribution() != taken_; }
  bool has_result() const { return phase_ == Phase::sent && from_parent_.arrival <= now(); }
  /// The rank has sent and does not know when the result arrives.
  bool awaits_result() const {
    return phase_ == Phase::sent && from_parent_.arrival == Edge::never;
  }
  bool have_children_sent() const { return arrivals_.missing == 0 && arrivals_.last <= now(); }

  bool is_near(int rank) const { return network_->own_ranks().contains(rank); }
  /// Time of a message between this rank and `rank`, if it needs `hop` between nodes.
  double time_to(int rank, double hop) const;
  /// Of a rank that awaits its result: that, or what it has sent, is in a letter. The parent is on
  /// the same network.
  bool has_letter_with_parent() const;
  /// When the last of the children's messages arrives, all of which are under way.
  double last_arrival() const;
  /// A child whose message is missing, if possible one of the same network.
  int missing_child() const;
  /// What `earliest_send` is for a rank that waits for none of the same network.
  double earliest_own_send(double now) const;

  void start();
  /// Waits for the children's messages; the round begins at `begin` at the earliest.
  void gather(double begin);
  /// Takes the contribution of this rank and its subtree.
  void combine();
  /// Takes the result from the parent.
  void take_result();
  /// Ends the round with a result that was there at `seconds`.
  void conclude(const Values& values, double seconds);

  // What messages of others use: a line. Then a line for the result.
  comm_thread::SimulatedNetwork* network_;
  TreeReduction* first_ = nullptr;  // of all ranks
  comm_thread::BinaryTree tree_;
  int rank_;
  Phase phase_ = Phase::resting;
  bool has_changed_ = false;  // the contribution, since it was taken
  bool wakes_after_rest_ = false;  // of a leaf that has sent: such an event is there
  bool wakes_at_arrival_ = false;
  double begin_ = 0;  // of the next round, unless the contribution changes before
  comm_thread::SimulatedNetwork::Arrivals arrivals_;

  Edge from_parent_;
  Values taken_{};  // last contribution

  std::array<Edge, 2> from_children_;
  comm_thread::ReductionProtocol protocol_;
  comm_thread::SweepSignal signal_;
  double next_step_ = 0;
};

/// Lets the termination of a rank use it. Lifetime: inside that of `reduction`.
class TreeDetector final : public comm_thread::Detector {
 public:
  explicit TreeDetector(TreeReduction& reduction) : reduction_(reduction) {}

  bool progress(const comm_thread::SweepSignal& signal) override {
    return reduction_.progress(signal);
  }
  comm_thread::SweepOrder order() const override { return reduction_.order(); }
  bool is_drained() const override { return reduction_.is_stopped(); }

 private:
  TreeReduction& reduction_;
};

}  // namespace weft::solver
