#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/channels/channel.h"
#include "comm_thread/engine/comm_thread.h"
#include "solver/multigrid/sweepers/coarse_messages.h"

namespace weft::solver {

/// How a rank asks rank 0 in asynchronous multigrid, and gets its answer. See CoarseServer.
/// Thread: the primary thread.
class CoarseClient {
 public:
  /// `channel`: to rank 0. All outlive it.
  CoarseClient(comm_thread::CommThread& comm_thread, comm_thread::Channel& channel,
               const CoarseMessages& messages)
      : comm_thread_(comm_thread), channel_(channel), question_(messages.question_size()) {}

  /// Where the next question is written, with its version.
  std::span<double> question() { return question_; }
  /// The question is there. It is sent as soon as the channel has room for it.
  void ask() { has_asked_ = false; }

  /// Waits for the answer to the question, but not for long; false where none has come.
  bool look_for_answer();
  /// After that. Valid until the rank looks again.
  std::span<const double> answer() const { return answer_; }

 private:
  void try_to_ask();
  bool take_answer();
  std::int64_t version() const { return CoarseMessages::version_at(question_, 0); }

  comm_thread::CommThread& comm_thread_;
  comm_thread::Channel& channel_;
  std::vector<double> question_;
  std::span<const double> answer_{};
  bool has_asked_ = true;
};

}  // namespace weft::solver
