// Replacements of the functions of these names, which MPICH's shared library calls. Other MPI
// libraries may call them, too, and get the functions that they replace.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

#include "comm_thread/mpi/mpi_session.h"
#include "comm_thread/mpi/patient_calls.h"
#include "comm_thread/waiting/team_barrier.h"

namespace {

/// False for whoever calls before the program has begun, such as threads that a library starts when
/// it is loaded (OpenBLAS).
constinit std::atomic<bool> runs_on_mpich{false};
[[maybe_unused]] const bool has_asked = [] {
  runs_on_mpich.store(weft::comm_thread::MpiSession::is_mpich(), std::memory_order_relaxed);
  return true;
}();

bool is_mpich() { return runs_on_mpich.load(std::memory_order_relaxed); }

/// The function of UCX that is replaced here. A library that loads UCX by itself keeps its names to
/// itself, so they are not found behind this program.
template <class Function>
Function replaced(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (!found)
    if (void* const ucx = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD)) found = dlsym(ucx, name);
  return reinterpret_cast<Function>(found);
}

}  // namespace

// MPI_Finalize (MPICH 4.0.2) calls this to disconnect from every peer: it needs the peer's answer,
// but the peer may already wait in the launcher's barrier, which makes no progress. Over TCP 5 to
// 30 of 100 runs on two hosts hung there. Nothing is in flight once all ranks have reached the end,
// so no disconnect is needed: null means done.
extern "C" [[gnu::visibility("default")]] void* ucp_disconnect_nb(void* endpoint);
extern "C" void* ucp_disconnect_nb(void* endpoint) {
  using Disconnect = void* (*)(void*);
  static const auto disconnect = replaced<Disconnect>("ucp_disconnect_nb");
  return is_mpich() || !disconnect ? nullptr : disconnect(endpoint);
}

// Polls for messages by UCX's function, then lets the thread nap. Returns the number of events.
extern "C" [[gnu::visibility("default")]] unsigned ucp_worker_progress(void* worker);
extern "C" unsigned ucp_worker_progress(void* worker) {
  using Progress = unsigned (*)(void*);
  static const auto look = replaced<Progress>("ucp_worker_progress");
  if (!look) std::abort();  // only users of UCX call this, and they have loaded it
  const unsigned event_count = look(worker);
  if (is_mpich()) weft::comm_thread::PatientCalls::after_look(event_count);
  return event_count;
}

// MPICH yields between the polls of a blocking call, and Linux 6.18 charges a time slice for each.
extern "C" int sched_yield() noexcept {
  if (is_mpich())
    weft::comm_thread::PatientCalls::yield();
  else
    weft::comm_thread::yield_core();
  return 0;
}
