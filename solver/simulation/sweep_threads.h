#pragma once

#include <cstdint>
#include <vector>

#include "comm_thread/simulation/simulated_network.h"
#include "comm_thread/waiting/team_barrier.h"
#include "perfmodel/stopwatch.h"
#include "solver/simulation/machine_model.h"
#include "solver/simulation/sweep_run_options.h"

namespace weft::solver {

/// Patience of a thread that waits for another one. Between two events of a lane there is no time
/// for naps: where waiting does not end soon, other programs use the core, and one thread alone is
/// quicker.
class Patience {
 public:
  Patience() : began_(perfmodel::seconds_now()) {}

  void begin() { round_ = 0; }
  void wait() {
    const std::uint64_t round = round_++;
    if (round < spins) return comm_thread::relax(comm_thread::WaitPolicy::spin, round);
    const double before = perfmodel::seconds_now();
    comm_thread::relax(comm_thread::WaitPolicy::yield, round - spins);
    waited_ += perfmodel::seconds_now() - before;
  }
  bool is_over() const {
    constexpr double most_seconds = 0.05;
    constexpr double most_fraction = 0.2;
    return waited_ > most_seconds && waited_ > most_fraction * (perfmodel::seconds_now() - began_);
  }

 private:
  static constexpr std::uint64_t spins = 4096;

  double began_;
  double waited_ = 0;
  std::uint64_t round_ = 0;
};

/// How many threads are worth their meetings: each needs a node, and sweeps to begin within the
/// lookahead; fewer of them where lanes know beforehand when they send letters
/// (SimulatedRanks::earliest_letter). Beyond two, each needs a thousand ranks: of 4096 ranks, 8 and
/// 16 threads take 1.2 and 1.4 times as long as two or four. `charged_points`: of a sweep.
int useful_threads(const SweepRunOptions& options, const MachineModel& model,
                   double charged_points);

/// Ranks of each thread: as many whole nodes for each.
std::vector<comm_thread::RankRange> ranks_of_threads(const SweepRunOptions& options,
                                                     const MachineModel& model, int thread_count);

}  // namespace weft::solver
