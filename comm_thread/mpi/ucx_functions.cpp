// Take the place of UCX's functions of these names, which MPICH's shared library calls. With other
// MPI libraries nobody calls them.
#include <dlfcn.h>

#include <cstdlib>

#include "comm_thread/mpi/patient_calls.h"

// Called from MPI_Finalize (MPICH 4.0.2) to take leave of every peer: it needs the peer's answer,
// but the peer may already wait in the launcher's barrier, which makes no progress. Over TCP 5 to
// 30 of 100 runs on two hosts hung there. Nothing is in flight when all ranks have come to the end,
// so no leave has to be taken: null means done.
extern "C" void* ucp_disconnect_nb(void* /*endpoint*/);
extern "C" void* ucp_disconnect_nb(void* /*endpoint*/) { return nullptr; }

// One look for messages: UCX's own, after which the thread may nap. Returns the number of events.
extern "C" unsigned ucp_worker_progress(void* worker);
extern "C" unsigned ucp_worker_progress(void* worker) {
  using Progress = unsigned (*)(void*);
  static const auto look = reinterpret_cast<Progress>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  if (!look) std::abort();  // only UCX's users call this, and they have loaded it
  const unsigned event_count = look(worker);
  weft::comm_thread::PatientCalls::after_look(event_count);
  return event_count;
}
