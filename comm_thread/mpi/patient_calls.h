#pragma once

namespace weft::comm_thread {

/// Lets the MPI calls of one thread that wait inside UCX nap between unsuccessful polls, while an
/// object lives. Without it they spin: on a core shared by several ranks each spins for a whole
/// time slice, while the rank it waits for has no core to answer on. With it, 20 000 messages
/// through MPI_Win_flush, 4 ranks on 2 cores, were 10 times as fast.
/// Has no effect with an MPI library that does not use UCX.
/// Thread: the one that makes the calls.
class PatientCalls {
 public:
  PatientCalls();
  ~PatientCalls();
  PatientCalls(const PatientCalls&) = delete;
  PatientCalls& operator=(const PatientCalls&) = delete;

  /// Disables naps on the calling thread from now on: it has a core of its own.
  static void never_on_this_thread();

  /// Lets others have the core of the calling thread: by a yield where it has the core for its own,
  /// else by a nap.
  static void yield();

  /// Called after each poll of the calling thread, which found `event_count` events; naps if
  /// appropriate.
  static void after_look(unsigned event_count);
};

}  // namespace weft::comm_thread
