#include "solver/report/residual_history.h"

#include <cmath>
#include <cstddef>

#include "solver/report/relative_residual.h"

namespace weft::solver {
namespace {

constexpr std::size_t grid_size = 64;

}  // namespace

std::vector<HistoryPoint> residual_history(const std::function<double(double seconds)>& square_at,
                                           double end_seconds, double end_residual, double b_norm) {
  std::vector<HistoryPoint> history;
  for (std::size_t point = 1; point < grid_size; ++point) {
    const double seconds = end_seconds * static_cast<double>(point) / grid_size;
    const double square_sum = square_at(seconds);
    if (std::isfinite(square_sum))
      history.push_back({seconds, relative_residual(square_sum, b_norm)});
  }
  history.push_back({end_seconds, end_residual});
  return history;
}

std::vector<HistoryPoint> collective_residual_history(
    const comm_thread::Communicator& communicator,
    const comm_thread::ContributionHistory& contributions, double end_seconds, double end_residual,
    double b_norm) {
  return residual_history(
      [&](double seconds) { return communicator.sum(contributions.contribution_at(seconds)); },
      communicator.max(end_seconds), end_residual, b_norm);
}

std::vector<HistoryPoint> own_residual_history(
    const comm_thread::ContributionHistory& contributions, double b_norm) {
  const auto samples = contributions.samples();
  const std::size_t step = (samples.size() + grid_size - 1) / grid_size;
  std::vector<HistoryPoint> history;
  for (std::size_t i = 0; i < samples.size(); i += step)
    history.push_back({samples[i].seconds, relative_residual(samples[i].contribution, b_norm)});
  if (!samples.empty())
    history.back() = {samples.back().seconds,
                      relative_residual(samples.back().contribution, b_norm)};
  return history;
}

}  // namespace weft::solver
