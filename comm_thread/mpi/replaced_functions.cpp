// Replacements of the functions of these names, which MPICH's shared library calls. Other MPI
// libraries do not call those of UCX.
#include <dlfcn.h>

#include <cstdlib>

#include "comm_thread/mpi/patient_calls.h"

// MPI_Finalize (MPICH 4.0.2) calls this to disconnect from every peer: it needs the peer's answer,
// but the peer may already wait in the launcher's barrier, which makes no progress. Over TCP 5 to
// 30 of 100 runs on two hosts hung there. Nothing is in flight once all ranks have reached the end,
// so no disconnect is needed: null means done.
extern "C" void* ucp_disconnect_nb(void* /*endpoint*/);
extern "C" void* ucp_disconnect_nb(void* /*endpoint*/) { return nullptr; }

// Polls for messages by UCX's function, then lets the thread nap. Returns the number of events.
extern "C" unsigned ucp_worker_progress(void* worker);
extern "C" unsigned ucp_worker_progress(void* worker) {
  using Progress = unsigned (*)(void*);
  static const auto look = reinterpret_cast<Progress>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  if (!look) std::abort();  // only users of UCX call this, and they have loaded it
  const unsigned event_count = look(worker);
  weft::comm_thread::PatientCalls::after_look(event_count);
  return event_count;
}

// MPICH yields between the polls of a blocking call, and Linux 6.18 charges a time slice for each.
extern "C" int sched_yield() noexcept {
  weft::comm_thread::PatientCalls::yield();
  return 0;
}
