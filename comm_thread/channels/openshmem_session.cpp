#include "comm_thread/channels/openshmem_session.h"

#include <mpi.h>
#include <shmem.h>
#include <signal.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/mpi_session.h"

namespace weft::comm_thread {
namespace {

/// Restores the action of a signal. Open MPI's OpenSHMEM makes every process ignore SIGTERM and end
/// silently on SIGUSR1, so that a job could no longer be ended.
class KeptSignalAction {
 public:
  explicit KeptSignalAction(int signal) : signal_(signal) { sigaction(signal_, nullptr, &action_); }
  ~KeptSignalAction() { sigaction(signal_, &action_, nullptr); }
  KeptSignalAction(const KeptSignalAction&) = delete;
  KeptSignalAction& operator=(const KeptSignalAction&) = delete;

 private:
  int signal_;
  struct sigaction action_{};
};

/// Returns true if OpenSHMEM supports threads as well as MPI does.
bool initialise() {
  const KeptSignalAction terminate(SIGTERM);
  const KeptSignalAction user(SIGUSR1);
  int mpi_level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&mpi_level);
  const int wanted = mpi_level == MPI_THREAD_MULTIPLE ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE;
  int provided = SHMEM_THREAD_SINGLE;
  shmem_init_thread(wanted, &provided);
  MpiSession::at_end(shmem_finalize);
  return provided >= wanted;
}

}  // namespace

void collective_start_openshmem(const Communicator& communicator) {
  int job_size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &job_size);
  if (communicator.size() != job_size)
    throw InputError("transport shmem: found a group of " + std::to_string(communicator.size()) +
                     " ranks; expected all " + std::to_string(job_size) + " of the job");
  static const bool is_usable = initialise();
  collective_attempt(communicator, [] {
    if (!is_usable)
      throw InputError(
          "transport shmem: OpenSHMEM does not give SHMEM_THREAD_MULTIPLE; expected the thread "
          "level of MPI");
  });
}

}  // namespace weft::comm_thread
