#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/engine/binary_tree.h"
#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/schedule.h"
#include "comm_thread/mpi/message_space.h"
#include "comm_thread/mpi/reduce_operation.h"

namespace weft::comm_thread {

/// Combines a few numbers of every rank, element by element, and returns the result on all ranks.
///
/// Runs as a schedule: up a binary tree and down again, 2·⌈log2 p⌉ messages deep. Contributions are
/// always combined in the order own, first child, second child, so every run on p ranks gives the
/// same bits, on every rank. (For bits that do not depend on p: ReproducibleSum.)
///
///     4 ranks: 3→1 | 1→0 2→0 | 0→1 0→2 | 1→3
///
/// Lifetime: `space` outlives it. Thread: one at a time.
class AllReduce {
 public:
  /// Optional functions that run on the thread that executes the schedule. They must be short, not
  /// allocate and not throw.
  struct Hooks {
    /// Fills in this rank's contribution as late as possible: when those of its subtree have
    /// arrived. If empty, `values()` at the time of the post is used.
    std::function<void(std::span<double>)> take{};
    /// Receives the result as soon as it is known on this rank, before it is sent on.
    std::function<void(std::span<const double>)> publish{};
  };

  /// `operations`: one for each number. `tag`: the same on all ranks, different for every schedule
  /// on `space`.
  AllReduce(const MessageSpace& space, std::span<const ReduceOperation> operations, int tag,
            Hooks hooks);
  AllReduce(const MessageSpace& space, ReduceOperation operation, std::size_t count, int tag);
  AllReduce(const AllReduce&) = delete;
  AllReduce& operator=(const AllReduce&) = delete;

  /// Contribution, set by the caller before each run; result after the run.
  std::span<double> values() { return values_; }

  /// Starts on the calling thread, which must wait for the Pending.
  Pending start_here(CommThread& thread) { return thread.start_here(*schedule_); }
  Pending post(CommThread& thread) { return thread.post(*schedule_); }

 private:
  void build_schedule(const MessageSpace& space, int tag);
  void combine_with_children();
  void take_from_parent();

  BinaryTree tree_;
  std::vector<ReduceOperation> operations_;
  Hooks hooks_;
  std::vector<double> values_;
  std::vector<double> received_;  // from the children in order, then from the parent
  std::unique_ptr<Schedule> schedule_;
};

}  // namespace weft::comm_thread
