#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "comm_thread/termination/flag_tree.h"
#include "comm_thread/termination/reduction_protocol.h"
#include "comm_thread/termination/sweep_protocol.h"

namespace weft::comm_thread {

/// Detector that is modelled. `residual` also stands for the plain all-reduce: the two differ in
/// how the numbers of a round are sent, which the model leaves open.
enum class ModelDetector { flags, residual, snapshot };

/// Deliberate error of the model.
enum class ModelFault {
  none,
  live_halo_in_snapshot,  // evaluates a snapshot with the newest values of the neighbours
  live_value_in_snapshot,  // … with this rank's newest value
  no_retraction,  // a flag once raised in an epoch stays
  no_epochs,  // results from before a failed verification count after it
  trusts_detection,  // ends without verification
  skips_late_snapshot,  // verifies before recording the snapshot that neighbours wait for
};

struct ModelScenario {
  ModelDetector detector = ModelDetector::flags;
  std::vector<int> initial;  // value of each rank, in a chain of neighbours; 2 or 3 ranks
  int threshold = 0;
  ReduceOperation operation = ReduceOperation::sum;
  int giving_up_rank = -1;  // this rank may give up at any time; -1: nobody
  ModelFault fault = ModelFault::none;
};

/// A small asynchronous iteration on whole numbers with the real protocol classes, one step at a
/// time: the state of all ranks, of their communication threads and of all messages under way.
///
///     x_0 ⇄ x_1 ⇄ x_2      a sweep moves x one step towards half the sum of its neighbours'
///
/// Values travel in messages that may be delayed without end, and a newer one replaces an older one
/// on its way. New values raise the residual of a rank again. The values tend to zero.
class TerminationModel {
 public:
  explicit TerminationModel(const ModelScenario& scenario);

  /// The state in bytes; states that differ only by common offsets of epochs and snapshots are
  /// the same.
  std::string encode() const;

  /// Calls `visit(TerminationModel&&)` with the state after each possible step.
  template <class Visit>
  void for_each_step(const Visit& visit) const {
    for (std::size_t step = 0; step < step_kind_count * rank_count_; ++step) {
      TerminationModel after(*this);
      if (after.try_step(step / rank_count_, step % rank_count_)) visit(std::move(after));
    }
  }

  /// All ranks have ended and nothing is under way.
  bool has_ended() const;

  /// Number of failed verifications so far.
  std::size_t retry_count() const { return ranks_[0].sweeper.signal().epoch - 1; }

  /// Description of the violation, empty if there is none.
  const std::string& violation() const { return violation_; }

 private:
  static constexpr std::size_t most_ranks = 3;
  static constexpr std::size_t step_kind_count = 13;
  static constexpr int nothing = -1;

  enum Side : std::size_t { left, right };

  struct Rank {
    explicit Rank(double threshold) : sweeper(threshold) {}

    SweepProtocol sweeper;
    int value = 0;
    std::array<int, 2> halo{};
    int recorded_value = 0;
    std::array<int, 2> recorded_halo{};  // of the snapshot; `nothing` until arrived
    bool gives_up = false;
    bool is_verifying = false;
    int verified_value = nothing;  // the result of the verification, until this rank leaves it
    bool has_swept = false;  // in this epoch
    bool was_converged = false;  // in some sweep of this epoch
    bool has_ended = false;

    // Messages to this rank from the neighbour on either side.
    std::array<int, 2> message{nothing, nothing};
    std::array<int, 2> snapshot_message{nothing, nothing};

    // The communication thread's.
    bool has_looked = true;  // at the newest signal
    ReductionProtocol reduction{{}};
    bool has_contributed = false;
    bool has_taken_result = true;
    FlagTree flags{BinaryTree(0, 1)};
    std::optional<FlagMessage> to_parent;  // under way
    std::optional<FlagMessage> from_parent;
  };

  struct StateBytes;

  bool try_step(std::size_t kind, std::size_t rank);
  bool sweep(std::size_t rank);
  bool give_up(std::size_t rank);
  bool deliver(std::size_t rank, Side side);
  bool deliver_snapshot(std::size_t rank, Side side);
  bool verify_together(std::size_t rank);
  bool leave_verification(std::size_t rank);
  bool contribute(std::size_t rank);
  bool take_result(std::size_t rank);
  bool look_at_signal(std::size_t rank);
  bool talk_to_parent(std::size_t rank);
  bool talk_to_children(std::size_t rank);

  void act(std::size_t rank, SweepAction action);
  void record_snapshot(std::size_t rank);
  void evaluate_snapshot(std::size_t rank);
  void end(std::size_t rank);
  void check_verdict(std::size_t rank);
  void check_flags_at_rest();
  static void encode_sweeping(const Rank& state, StateBytes& bytes);
  static void encode_flags(const Rank& state, StateBytes& bytes);
  void encode_reduction(const Rank& state, StateBytes& bytes) const;
  void violate(const char* what) { violation_ = what; }

  bool has_neighbour(std::size_t rank, Side side) const {
    return side == left ? rank > 0 : rank + 1 < rank_count_;
  }
  static std::size_t neighbour(std::size_t rank, Side side) {
    return side == left ? rank - 1 : rank + 1;
  }
  SweepOrder order(std::size_t rank) const;
  bool uses_flags() const { return scenario_->detector == ModelDetector::flags; }
  bool has_snapshot_arrived(std::size_t rank) const;
  /// Value compared with the threshold. `values`: of the ranks.
  int true_residual(const std::array<int, most_ranks>& values) const;
  std::array<int, most_ranks> values() const;

  const ModelScenario* scenario_;
  std::size_t rank_count_;
  std::vector<Rank> ranks_;
  std::array<double, 4> partial_{};  // of the round in progress
  std::array<double, 4> result_{};  // of the round before
  std::string violation_;
};

}  // namespace weft::comm_thread
