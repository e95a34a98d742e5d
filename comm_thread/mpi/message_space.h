#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "comm_thread/mpi/reduce_operation.h"

namespace weft::comm_thread {

/// A message that is prepared once and then sent or received any number of times. Its buffer
/// belongs to the caller and outlives what is prepared.
struct MessageDraft {
  bool is_receive = false;
  void* data = nullptr;
  std::size_t bytes = 0;
  int rank = 0;  // the other end
  int tag = 0;
};

/// Prepared messages, numbered in the order of their drafts. Thread: one at a time. Destroyed only
/// while none is in flight. Throws MpiError.
class PreparedMessages {
 public:
  virtual ~PreparedMessages() = default;

  /// Starts the messages `first` to `first + count - 1`.
  virtual void start(std::size_t first, std::size_t count) = 0;

  /// Writes the numbers, counted from `first`, of those messages that have completed since they
  /// were started and were not reported yet. Returns how many. Shape: completed: [count] at least.
  virtual std::size_t test(std::size_t first, std::size_t count, std::span<int> completed) = 0;
};

/// A prepared all-reduce of a few numbers that the network or its library carries out.
/// Thread: one at a time. Destroyed only when complete. Throws MpiError.
class PreparedReduction {
 public:
  virtual ~PreparedReduction() = default;

  /// Contribution, set by the caller before each start; result once complete.
  virtual std::span<double> values() = 0;

  /// Starts a run. Collective: all ranks start equally many.
  virtual void start() = 0;

  /// True if the run is complete.
  virtual bool test() = 0;
};

/// A group of ranks among which messages travel, and the place of one rank in it: what schedules,
/// reductions and termination detectors know of the network below.
///
///     Communicator     MPI
///     SimulatedSpace   any number of ranks in one process, with a simulated clock
///
/// A virtual call is made once for each round of a schedule, beside the library's own calls.
class MessageSpace {
 public:
  virtual ~MessageSpace() = default;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }

  /// The same ranks with a separate message space. Collective.
  virtual std::unique_ptr<MessageSpace> collective_duplicate_space() const = 0;

  /// Lifetime: inside that of this space.
  virtual std::unique_ptr<PreparedMessages> prepare(std::span<const MessageDraft> drafts) const = 0;

  /// `operations`: one for each number. The space carries nothing else. Lifetime: as `prepare`.
  virtual std::unique_ptr<PreparedReduction> prepare_reduction(
      std::span<const ReduceOperation> operations) const = 0;

 protected:
  MessageSpace() = default;
  MessageSpace(int rank, int size) : rank_(rank), size_(size) {}
  MessageSpace(const MessageSpace&) = default;
  MessageSpace& operator=(const MessageSpace&) = default;

  int rank_ = 0;
  int size_ = 1;
};

}  // namespace weft::comm_thread
