#pragma once

#include <span>
#include <string>
#include <vector>

#include "comm_thread/job/job.h"
#include "library/roofline/roofline_kernel.h"
#include "library/roofline/stream_bench.h"
#include "perfmodel/roofline.h"
#include "perfmodel/statistics.h"

namespace weft::library {

/// Results for one kernel, over all ranks.
struct KernelResult {
  std::string name;
  std::string what;
  perfmodel::Traffic traffic;
  perfmodel::Limit limit = perfmodel::Limit::memory;
  double model_seconds = 0;
  perfmodel::Statistics seconds;  // of the slowest rank
  double fraction = 0;
  double balance = 1;  // mean time of the threads / that of the slowest
  double core_seconds = 0;  // 0: not measured
  double in_turn_seconds = 0;  // perfmodel::seconds_in_turn; 0: not measured, or one loop
  std::vector<perfmodel::CoreBound> core_bounds;  // of that time, the longest first
  double kappa_simulated = -1;  // bytes per nonzero; -1: there is no column stream
  double nonzeros = 0;  // that a column stream has
  double kappa_bound = -1;  // if everything above the model were x loaded again
  double reload_fraction = 0;  // as `fraction`, of the model with x loaded again as simulated
  int width = 1;  // vectors of a product
  double data_bytes = 0;
  perfmodel::Verdict verdict;
};

/// Runs kernels in turn with the loops of plain data movement that they are compared with, so that
/// what disturbs the machine disturbs both.
class KernelRace {
 public:
  /// Lifetime: `job` and `bench` outlive it.
  KernelRace(const comm_thread::Job& job, StreamBench& bench, double l2_bytes);

  /// `tolerance`: fraction of the model that is `ok`; `on_step`: called before each run of a
  /// kernel. Collective.
  std::vector<KernelResult> collective_run(const std::vector<RooflineKernel>& kernels,
                                           int repetitions, double tolerance,
                                           const OnStep& on_step);

  /// Medians of the loops' elements per second during the race. Shape: as perfmodel::all_streams.
  const std::vector<double>& elements_per_second() const { return elements_per_second_; }
  double flops_per_second() const { return flops_per_second_; }
  const perfmodel::CoreRates& core_rates() const { return core_rates_; }
  const perfmodel::ProbeSpeed& probe_speed() const { return probe_speed_; }

 private:
  struct Sample {
    double seconds = 0;
    double balance = 0;
    double fraction = 0;
    perfmodel::Prediction model;
  };

  /// Roofs of the second-level caches.
  struct CacheRoofs {
    perfmodel::BandwidthRoof by_counted_bytes;  // what loads and stores move
    perfmodel::BandwidthRoof by_all_bytes;  // with the lines that are overwritten
  };

  CacheRoofs collective_cache_roofs(double l2_bytes);
  std::vector<perfmodel::CoreBound> collective_core_bounds(const RooflineKernel& kernel) const;
  Sample collective_sample(const RooflineKernel& kernel, const perfmodel::Roofs& roofs);
  double collective_core_seconds(const RooflineKernel& kernel);
  void collective_add_reload(const RooflineKernel& kernel, const perfmodel::Roofs& roofs,
                             KernelResult& result, perfmodel::Evidence& evidence) const;
  void collective_add_core_time(const RooflineKernel& kernel, KernelResult& result,
                                perfmodel::Evidence& evidence) const;
  void collective_keep_rates(std::span<std::vector<double>> rates);
  KernelResult collective_result(const RooflineKernel& kernel, const std::vector<Sample>& samples,
                                 const perfmodel::Roofs& roofs, double tolerance);

  const comm_thread::Job& job_;
  StreamBench& bench_;
  CacheRoofs cache_roofs_;
  double flops_per_second_;
  perfmodel::CoreRates core_rates_;
  perfmodel::ProbeSpeed probe_speed_;
  double cache_bytes_of_node_;  // of caches that are quicker than memory
  std::vector<double> elements_per_second_;
};

}  // namespace weft::library
