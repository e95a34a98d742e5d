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

  const comm_thread::SweepOrder& order() const { return protocol_.order(); }
  bool is_stopped() const { return phase_ == Phase::stopped; }

  /// Fetches what an event of `rank` needs into the caches, without a look at it. Shape: all:
  /// [rank_count].
  static void fetch(comm_thread::FetchQueue& fetches, std::span<const TreeReduction> all, int rank);

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
  /// Where this rank's messages to its parent go. Not of the root.
  Edge& to_parent() const;
  Values contribution() const;
  void note_change() { has_changed_ = contribution() != taken_; }
  bool has_result() const { return phase_ == Phase::sent && from_parent_.arrival <= now(); }
  bool have_children_sent() const { return arrivals_.missing == 0 && arrivals_.last <= now(); }

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
