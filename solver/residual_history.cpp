#include "solver/residual_history.h"

#include <cmath>

#include "solver/relative_residual.h"

namespace weft::solver {
namespace {

constexpr int grid_size = 64;

}  // namespace

std::vector<HistoryPoint> collective_residual_history(
    const comm_thread::Communicator& communicator,
    const comm_thread::ContributionHistory& contributions, double end_seconds, double end_residual,
    double b_norm) {
  std::vector<HistoryPoint> history;
  const double end = communicator.max(end_seconds);
  for (int point = 1; point < grid_size; ++point) {
    const double seconds = end * point / grid_size;
    const double square_sum = communicator.sum(contributions.contribution_at(seconds));
    if (std::isfinite(square_sum))
      history.push_back({seconds, relative_residual(square_sum, b_norm)});
  }
  history.push_back({end, end_residual});
  return history;
}

}  // namespace weft::solver
