#pragma once

namespace weft::comm_thread {

/// While one lives, calls of MPI that wait inside UCX nap between looks that found nothing, on the
/// calling thread only. They spin otherwise: on a core that several ranks share, each for a whole
/// time slice, while the rank that it waits for has no core to answer on. 20 000 messages through
/// MPI_Win_flush, 4 ranks on 2 cores: 10 times as fast.
/// With an MPI library that does not stand on UCX it does nothing.
/// **Thread**: the one that makes the calls.
class PatientCalls {
 public:
  PatientCalls();
  ~PatientCalls();
  PatientCalls(const PatientCalls&) = delete;
  PatientCalls& operator=(const PatientCalls&) = delete;

  /// From now on the calling thread never naps in its calls: its core is its own.
  static void never_on_this_thread();

  /// What the calling thread's look for messages found: `event_count`. Naps where it should.
  static void after_look(unsigned event_count);
};

}  // namespace weft::comm_thread
