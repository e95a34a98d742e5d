#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "solver/simulation/halo_graph.h"
#include "solver/simulation/machine_model.h"

namespace weft::solver {

/// The times of simulated ranks that all do the same things in the same order, as searches for
/// eigenvalues do: compute, exchange halos, and add by recursive doubling.
///
/// Where nobody decides anything by what has arrived, the order of events within a step is known
/// beforehand, so each step is a loop over the ranks in place of a queue of events, without values.
/// Times are those of MachineModel, and are equal to those of the schedules where links are free.
/// Where they are not, messages use a link in the order in which their ranks begin the step.
/// Memory: 36 bytes a rank, beside the graph. Thread: one. Lifetime: inside that of `model`,
/// `graph`.
class LockstepRanks {
 public:
  LockstepRanks(MachineModel& model, const HaloGraph& graph);

  /// Each rank computes for seconds(rank), but for disturbances.
  template <class Seconds>
  void compute(const Seconds& seconds) {
    const double per_point = model_.machine().seconds_per_point;
    for (std::size_t rank = 0; rank < now_.size(); ++rank) {
      const double usual = seconds(static_cast<int>(rank));
      if (usual <= 0) continue;
      const double taken =
          model_.sweep_seconds(static_cast<int>(rank), pass_count_, usual / per_point);
      now_[rank] += taken;
      computed_ += taken;
    }
    ++pass_count_;
  }

  /// Each rank sends its halo of so many bytes an entry.
  void post_halos(std::size_t entry_bytes);
  /// Each rank waits for what was sent to it last.
  void wait_for_halos();
  /// Each rank adds what all have: messages of so many bytes.
  void all_reduce(std::size_t bytes);

  /// Of the last rank.
  double seconds() const;
  /// Of all ranks together. Computation is counted from when it was last asked for.
  double take_computed();
  double halo_wait() const { return halo_wait_; }
  double sum_wait() const { return sum_wait_; }
  std::int64_t message_count() const { return message_count_; }
  double message_bytes() const { return message_bytes_; }

 private:
  void sort_by_time();
  /// From a rank to another, started at `begin`: when it is there.
  double arrival(int from, int to, std::size_t bytes, double begin);
  void exchange_pairs(int distance, int core, std::size_t bytes);

  MachineModel& model_;
  const HaloGraph& graph_;
  std::vector<double> now_;  // of each rank
  std::vector<double> arrived_;  // the last message to each
  std::vector<double> begun_;
  std::vector<int> order_;  // ranks, by the time at which they begin a step
  std::uint64_t pass_count_ = 0;
  double computed_ = 0;
  double halo_wait_ = 0;
  double sum_wait_ = 0;
  std::int64_t message_count_ = 0;
  double message_bytes_ = 0;
};

}  // namespace weft::solver
