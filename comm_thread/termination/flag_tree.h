#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "comm_thread/engine/binary_tree.h"
#include "comm_thread/termination/sweep_signal.h"

namespace weft::comm_thread {

/// Message along an edge of a flag tree: upwards the state of a subtree, downwards the decision.
struct FlagMessage {
  std::uint64_t epoch = 0;
  Verdict flag = Verdict::none;
  bool is_last = false;  // nothing follows in this direction

  bool operator==(const FlagMessage&) const = default;
};

/// One rank's part of a tree of convergence flags with retraction: pure logic, no messages, no
/// threads.
///
/// Whenever the state of its subtree changes, in either direction, a rank tells its parent. A
/// subtree has converged if the rank and both subtrees below have; it gives up if any rank in it
/// does. The first state of the whole tree that is not `none` is the decision for this epoch, and
/// goes down.
///
///     1 ▲ converged   ▲ not any more   ▲ converged        ▼ decision of epoch 1
///
/// A flag may be out of date when the root reads it; therefore the decision is verified. Flags of
/// other epochs count as `none`, and those of a later epoch, of a rank that left verification
/// earlier, are kept until this rank is there too.
/// Source: Yamazaki et al. 2019, section 4.3, with retraction and epochs.
class FlagTree {
 public:
  explicit FlagTree(const BinaryTree& tree) : tree_(tree) {}

  /// Sets the state of this rank after its last sweep.
  void set_own(const SweepSignal& signal);
  void receive_from_child(int child, const FlagMessage& message);
  void receive_from_parent(const FlagMessage& decision) { decide(decision); }

  /// Message to send to the parent next, if any; call `sent_to_parent` afterwards.
  std::optional<FlagMessage> unsent_to_parent() const;
  void sent_to_parent(const FlagMessage& message) { sent_up_ = message; }

  /// Decision to send to the children next, if any; call `sent_to_children` afterwards.
  std::optional<FlagMessage> unsent_to_children() const;
  void sent_to_children(const FlagMessage& message) { sent_down_ = message; }

  SweepOrder order() const;

  /// True if this rank will neither send nor receive anything any more.
  bool is_drained() const;

  const BinaryTree& tree() const { return tree_; }

  /// All of its state, for callers that compare states.
  std::array<FlagMessage, 6> memory() const {
    return {own_, children_[0], children_[1], sent_up_, decision_, sent_down_};
  }

 private:
  Verdict flag_of_subtree() const;
  void decide(const FlagMessage& decision) { decision_ = decision; }
  void decide_at_root();

  BinaryTree tree_;
  FlagMessage own_{1, Verdict::none, false};
  std::array<FlagMessage, 2> children_{};
  FlagMessage sent_up_;
  FlagMessage decision_;  // the newest; of this epoch, an earlier or the next
  FlagMessage sent_down_;
};

}  // namespace weft::comm_thread
