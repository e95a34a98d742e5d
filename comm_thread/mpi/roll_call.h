#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// Notices a rank that leaves while others go on: each common step of a group of ranks begins with
/// an answer of all of them, and a rank that ends its part answers once that it leaves. Those that
/// come to their next step then get an error, where they would wait for ever.
///
/// A rank that leaves does not wait. What it has sent is completed by later calls, at the latest at
/// MPI_Finalize or at a regular exit of the process, where it waits for the others' answers.
/// Thread: one at a time per object. Lifetime: begins while MPI runs; the destructor may come
/// later.
class RollCall {
 public:
  /// `ranks`: for the answers alone.
  explicit RollCall(Communicator ranks);
  /// Leaves.
  ~RollCall();
  RollCall(const RollCall&) = delete;
  RollCall& operator=(const RollCall&) = delete;

  /// Throws std::logic_error on all ranks where one has left, and again at each later call.
  /// `doing`: the step, such as "solve". Collective.
  void collective_answer(const std::string& doing);

  /// Answers that this rank leaves; does nothing at a second call, or where another has left.
  void leave();

  /// Makes every object of this process leave, and waits until the other ranks of each have
  /// answered, or for `limit_seconds`. Thread: one at a time.
  static void leave_all(double limit_seconds);

 private:
  Communicator ranks_;
  std::int64_t first_lost_;  // lowest rank that has left; the number of ranks where none has
  bool has_left_ = false;
};

}  // namespace weft::comm_thread
