#include "comm_thread/mpi/clock_offset.h"

#include <array>
#include <chrono>
#include <limits>

#include "comm_thread/mpi/mpi_error.h"

namespace weft::comm_thread {
namespace {

constexpr int questions = 8;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Answers with the time of rank 0, computed from this rank's clock.
void answer(const Communicator& communicator, int rank, std::int64_t offset) {
  for (int question = 0; question < questions; ++question) {
    std::int64_t time = 0;
    check_mpi(MPI_Recv(&time, 1, MPI_INT64_T, rank, 0, communicator.handle(), MPI_STATUS_IGNORE),
              "compare clocks");
    time = now_ns() + offset;
    check_mpi(MPI_Send(&time, 1, MPI_INT64_T, rank, 0, communicator.handle()), "compare clocks");
  }
}

std::int64_t ask(const Communicator& communicator, int rank) {
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  std::int64_t offset = 0;
  for (int question = 0; question < questions; ++question) {
    const std::int64_t begin = now_ns();
    std::int64_t time = begin;
    check_mpi(MPI_Send(&time, 1, MPI_INT64_T, rank, 0, communicator.handle()), "compare clocks");
    check_mpi(MPI_Recv(&time, 1, MPI_INT64_T, rank, 0, communicator.handle(), MPI_STATUS_IGNORE),
              "compare clocks");
    const std::int64_t end = now_ns();
    if (end - begin >= shortest) continue;
    shortest = end - begin;
    offset = time - (begin + shortest / 2);
  }
  return offset;
}

}  // namespace

std::int64_t collective_clock_offset_ns(const Communicator& communicator) {
  return collective_clock_offset_ns(communicator, communicator.collective_split_node());
}

std::int64_t collective_clock_offset_ns(const Communicator& communicator,
                                        const Communicator& node) {
  const int rank = communicator.rank();
  std::array<std::int64_t, 1> offset{0};
  // In every round, each rank that knows its offset answers one that does not.
  for (int knowing = 1; knowing < communicator.size(); knowing *= 2) {
    if (rank < knowing && rank + knowing < communicator.size())
      answer(communicator, rank + knowing, offset[0]);
    else if (rank >= knowing && rank < 2 * knowing)
      offset[0] = ask(communicator, rank - knowing);
  }
  node.broadcast(offset, 0);
  return offset[0];
}

}  // namespace weft::comm_thread
