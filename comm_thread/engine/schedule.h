#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm_thread/mpi/message_space.h"

namespace weft::comm_thread {

/// A fixed list of rounds of sends, receives and local operations, built once and run many times.
///
/// All operations of a round are independent; a round begins when the previous one is complete.
///
///     halo exchange      | recv from 0, recv from 2, send to 0, send to 2 |
///     all-reduce, 4 ranks| send 1, recv 1 | add | send 2, recv 2 | add |
///
/// Operations are messages prepared by a MessageSpace, contiguous in round order: with MPI,
/// persistent requests. Buffers belong to the caller and must outlive the schedule.
///
/// Memory ordering: the poster's writes to send buffers become visible to the thread that executes
/// the schedule through the release in CommThread::post and the acquire of the thread that takes
/// it. Received data is published by the release store of `finished_runs_` (or of one receive's
/// `finished_run`) and read after an acquire load that sees it.
/// Source: Hoefler, Gottschling, Rehm, Lumsdaine 2006, section 2.1–2.3.
class Schedule {
 public:
  class Builder;

  ~Schedule();
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  /// Name for messages: "halo exchange".
  const std::string& name() const { return name_; }
  bool is_empty() const { return operation_count_ == 0 && rounds_.empty(); }

  /// Number of runs posted and finished so far. Thread: any.
  std::uint64_t posted_runs() const { return posted_runs_.load(std::memory_order_relaxed); }
  std::uint64_t finished_runs() const { return finished_runs_.load(std::memory_order_acquire); }

  /// True if receive number `receive` (in the order added) is complete in run `run`. Thread: any.
  bool has_received(std::size_t receive, std::uint64_t run) const;

  /// Operations still missing in the current run: "halo exchange: receive from rank 2". Thread:
  /// any.
  std::string missing() const;

 private:
  friend class ScheduleExecutor;
  friend class CommThread;
  friend class Pending;

  struct Operation {
    bool is_receive;
    int rank;
    std::atomic<std::uint64_t> finished_run{0};
  };
  struct Round {
    std::size_t first_request;
    std::size_t request_count;
    std::function<void()> afterwards;
  };

  Schedule() = default;

  std::string name_;
  const char* trace_name_ = "";  // the name, kept until the program ends
  std::unique_ptr<PreparedMessages> messages_;
  std::size_t operation_count_ = 0;
  std::unique_ptr<Operation[]> operations_;  // [operation_count_]
  std::vector<std::size_t> receives_;  // operation of each receive, in the order added
  std::vector<Round> rounds_;

  // Used by the executing thread only.
  std::size_t current_round_ = 0;
  std::size_t open_requests_ = 0;
  std::int64_t begin_ns_ = 0;  // start of the run, if traced

  std::atomic<std::uint64_t> posted_runs_{0};
  std::atomic<std::uint64_t> finished_runs_{0};
  std::exception_ptr error_;  // first error of any run; written before finished_runs_
  std::function<void()> progress_by_poster_;  // set if the poster progresses it
  Schedule* next_posted_ = nullptr;  // link of CommThread's list of posted schedules
};

/// Collects the operations of a schedule round by round.
class Schedule::Builder {
 public:
  /// `space` must outlive the schedule.
  Builder(const MessageSpace& space, std::string name);

  Builder& send(const void* data, std::size_t bytes, int rank, int tag = 0);
  Builder& receive(void* data, std::size_t bytes, int rank, int tag = 0);
  /// Ends the round; `afterwards` runs on the executing thread once the round is complete. It must
  /// be short, not allocate and not throw.
  Builder& end_round(std::function<void()> afterwards = {});

  /// Throws MpiError.
  std::unique_ptr<Schedule> build();

 private:
  const MessageSpace& space_;
  std::string name_;
  std::vector<MessageDraft> drafts_;
  std::vector<Round> rounds_;
  std::size_t round_begin_ = 0;
};

}  // namespace weft::comm_thread
