#pragma once

#include <array>
#include <memory>
#include <optional>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/schedule.h"
#include "comm_thread/mpi/message_space.h"
#include "comm_thread/termination/detector.h"
#include "comm_thread/termination/flag_tree.h"

namespace weft::comm_thread {

/// Drives a FlagTree: the detector `flags`.
///
/// Every edge of the tree is a schedule at either end, posted again for every message. A flag is
/// acknowledged before the next one is sent, so a slow parent never has more than one from each
/// child pending; intermediate changes are skipped.
///
///     child    | send flag, receive ack |          | receive decision |
///     parent   | receive flag | send ack |         | send decision |
class FlagDetector final : public Detector {
 public:
  /// Collective: duplicates the space. Lifetime: `comm_thread` outlives it.
  FlagDetector(const MessageSpace& space, CommThread& comm_thread);

  bool progress(const SweepSignal& signal) override;
  SweepOrder order() const override { return tree_.order(); }
  bool is_drained() const override;

 private:
  /// One repeated message of an edge.
  struct Edge {
    FlagMessage message;
    std::unique_ptr<Schedule> schedule;
    std::optional<Pending> pending;
  };

  void build_edges();
  void post(Edge& edge) { edge.pending = comm_thread_.post(*edge.schedule); }
  /// True once for every completed run; throws its error.
  static bool has_completed(Edge& edge);
  bool hear_children();
  bool hear_parent();
  bool tell_parent();
  bool tell_children();

  std::unique_ptr<MessageSpace> space_;
  CommThread& comm_thread_;
  FlagTree tree_;
  Edge to_parent_;
  Edge from_parent_;
  std::array<Edge, 2> from_children_;
  std::array<Edge, 2> to_children_;
};

}  // namespace weft::comm_thread
