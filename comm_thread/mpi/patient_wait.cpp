#include "comm_thread/mpi/patient_wait.h"

#include <cstdint>

#include "comm_thread/mpi/mpi_error.h"
#include "comm_thread/waiting/team_barrier.h"

namespace weft::comm_thread {

void wait_patiently(MPI_Request& request, const char* doing) {
  for (std::uint64_t round = 0;; ++round) {
    int is_complete = 0;
    check_mpi(MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE), doing);
    if (is_complete) return;
    relax(WaitPolicy::yield, round);
  }
}

}  // namespace weft::comm_thread
