#include "solver/report/threaded_report.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "solver/report/residual_history.h"

namespace weft::solver {
namespace {

constexpr int resolution = 1024;  // of `true_seconds`

double square_at(std::span<const ThreadHistory> threads, double seconds) {
  double sum = 0;
  for (const ThreadHistory& thread : threads) sum += thread.squares.contribution_at(seconds);
  return sum;
}

/// From when on the sum stayed within the threshold; `end` where it never did.
double true_seconds(std::span<const ThreadHistory> threads, double end, double threshold) {
  int point = resolution;
  while (point > 0 && square_at(threads, end * point / resolution) <= threshold) --point;
  return point == resolution ? end : end * (point + 1) / resolution;
}

}  // namespace

std::vector<HistoryPoint> residual_history(std::span<const ThreadHistory> threads,
                                           double end_seconds, double end_residual, double b_norm) {
  return residual_history([&](double seconds) { return square_at(threads, seconds); }, end_seconds,
                          end_residual, b_norm);
}

comm_thread::DetectionReport detection_report(std::span<const ThreadHistory> threads,
                                              double threshold) {
  comm_thread::DetectionReport report;
  report.fired_seconds = std::numeric_limits<double>::infinity();
  for (const ThreadHistory& thread : threads) {
    report.fired_seconds = std::min(report.fired_seconds, thread.stopped_seconds);
    report.terminated_seconds = std::max(report.terminated_seconds, thread.stopped_seconds);
  }
  report.true_seconds = true_seconds(threads, report.terminated_seconds, threshold);
  report.delay_seconds = report.terminated_seconds - report.true_seconds;
  report.fewest_wasted_sweeps = std::numeric_limits<double>::infinity();
  for (const ThreadHistory& thread : threads) {
    const std::uint64_t useful =
        std::min(thread.sweep_count, thread.squares.iteration_at(report.true_seconds));
    const auto wasted = static_cast<double>(thread.sweep_count - useful);
    report.fewest_wasted_sweeps = std::min(report.fewest_wasted_sweeps, wasted);
    report.most_wasted_sweeps = std::max(report.most_wasted_sweeps, wasted);
    report.mean_wasted_sweeps += wasted / static_cast<double>(threads.size());
  }
  return report;
}

}  // namespace weft::solver
