#include "solver/multigrid/sweepers/coarse_client.h"

#include <algorithm>
#include <string>

#include "perfmodel/stopwatch.h"
#include "solver/multigrid/sweepers/growing_nap.h"

namespace weft::solver {
namespace {

/// Of a rank for an answer, before it looks after everything else again.
constexpr double longest_wait_seconds = 0.01;

/// Part of that time in which it polls; then it naps between two looks.
constexpr double longest_poll_seconds = 20e-6;

}  // namespace

void CoarseClient::try_to_ask() {
  if (has_asked_ || !channel_.can_send()) return;
  std::ranges::copy(question_, channel_.outgoing().begin());
  has_asked_ = channel_.send(static_cast<std::uint64_t>(version()));
}

bool CoarseClient::take_answer() {
  try_to_ask();
  if (!channel_.can_receive()) return false;
  answer_ = channel_.receive().values;
  return CoarseMessages::version_at(answer_, 0) == version();
}

bool CoarseClient::look_for_answer() {
  const double begin = perfmodel::seconds_now();
  bool has_come = false;
  comm_thread_.wait_for(
      [&] {
        has_come = take_answer();
        return has_come || perfmodel::seconds_now() > begin + longest_poll_seconds;
      },
      [] { return std::string("an answer of the coarser grids from rank 0"); });
  GrowingNap nap;
  while (!has_come && perfmodel::seconds_now() < begin + longest_wait_seconds) {
    nap.take();
    comm_thread_.progress_services_here();
    has_come = take_answer();
  }
  return has_come;
}

}  // namespace weft::solver
