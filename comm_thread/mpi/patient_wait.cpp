#include "comm_thread/mpi/patient_wait.h"

#include <chrono>
#include <cstdint>

#include "comm_thread/mpi/mpi_error.h"
#include "comm_thread/waiting/team_barrier.h"

namespace weft::comm_thread {

namespace {

bool is_complete(MPI_Request& request, const char* doing) {
  int flag = 0;
  check_mpi(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), doing);
  return flag != 0;
}

}  // namespace

void wait_patiently(MPI_Request& request, const char* doing) {
  for (std::uint64_t round = 0; !is_complete(request, doing); ++round)
    relax(WaitPolicy::yield, round);
}

bool wait_patiently_for(MPI_Request& request, double limit_seconds, const char* doing) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t round = 0;; ++round) {
    if (is_complete(request, doing)) return true;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    if (passed.count() > limit_seconds) return false;
    relax(WaitPolicy::yield, round);
  }
}

}  // namespace weft::comm_thread
