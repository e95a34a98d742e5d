#include "library/measure/progress_measurement.h"

#include <algorithm>
#include <vector>

#include "perfmodel/statistics.h"
#include "perfmodel/stopwatch.h"

namespace weft::library {
namespace {

using comm_thread::OverlapTimes;
using comm_thread::ProgressMethod;
using comm_thread::ProgressProbe;

/// Length of the computation, of that of the communication alone. Where both threads share a core,
/// moving the data takes time of it that nothing can hide: 40 MB each way over 1 Gbit/s (0.33 s)
/// and TCP took 0.05 to 0.1 s of a core. A computation as long as the communication would show
/// that, and not whether messages move meanwhile.
constexpr double computation_length = 0.8;
/// A sample lasts at least this long, or the barrier before it would show.
constexpr double shortest_sample_seconds = 1e-3;
constexpr int most_rounds = 1000;
constexpr double seconds_per_measurement = 1;
constexpr int fewest_repetitions = 3;
constexpr int most_repetitions = 15;

}  // namespace

double ProgressMeasurement::collective_time(ProgressProbe& probe, ProgressMethod method,
                                            Round round, int count) {
  double seconds = 0;
  job_.world().barrier();
  job_.team().run([&](const comm_thread::TeamThread& thread) {
    const bool communicates = round.communicates && thread.is_primary();
    thread.barrier();
    const perfmodel::Stopwatch watch;
    for (int i = 0; i < count; ++i) {
      if (communicates) probe.start(method);
      CalibratedWork::run(round.steps);
      if (communicates) probe.wait();
    }
    thread.barrier();
    if (thread.is_primary()) seconds = watch.seconds();
  });
  return job_.world().max(seconds) / count;
}

int ProgressMeasurement::choose_repetitions(double seconds_per_sample) const {
  if (repetitions_ > 0) return repetitions_;
  // Alone twice the time, computation and communication one after the other at worst.
  return static_cast<int>(std::clamp(seconds_per_measurement / (4 * seconds_per_sample),
                                     double{fewest_repetitions}, double{most_repetitions}));
}

OverlapTimes ProgressMeasurement::collective_measure(ProgressProbe& probe, ProgressMethod method) {
  const Round alone{true, 0};
  collective_time(probe, method, alone, 1);  // connects, touches the pages
  const double first = collective_time(probe, method, alone, 1);
  const int count =
      static_cast<int>(std::clamp(shortest_sample_seconds / first, 1.0, double{most_rounds}));
  const double estimate = count > 1 ? collective_time(probe, method, alone, count) : first;
  const Round computation{false, work_.steps_for(computation_length * estimate)};
  const Round both{true, computation.steps};
  std::vector<double> pure, compute, overlapped;
  const int repetitions = choose_repetitions(estimate * count);
  for (int i = 0; i < repetitions; ++i) {
    pure.push_back(collective_time(probe, method, alone, count));
    compute.push_back(collective_time(probe, method, computation, count));
    overlapped.push_back(collective_time(probe, method, both, count));
  }
  probe.collective_refill();
  collective_time(probe, method, both, 1);
  wrong_words_ += probe.collective_wrong_words();
  return {perfmodel::median(pure), perfmodel::median(compute), perfmodel::median(overlapped)};
}

}  // namespace weft::library
