#include "solver/simulation/sweep_simulation.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/channels/transport.h"
#include "comm_thread/placement/compute_team.h"
#include "comm_thread/simulation/network_group.h"
#include "comm_thread/simulation/simulated_network.h"
#include "comm_thread/waiting/team_barrier.h"
#include "solver/simulation/machine_model.h"
#include "solver/simulation/simulated_part.h"
#include "solver/simulation/simulated_ranks.h"
#include "solver/simulation/sweep_threads.h"

namespace weft::solver {
namespace {

using comm_thread::RankRange;

/// A rank that waits for a halo or a sum polls all the time.
Machine machine_of_run(const SweepRunOptions& options) {
  Machine machine = options.machine;
  if (options.variant == SimulatedVariant::sync) machine.poll_interval = 0;
  return machine;
}

/// One run: its lanes, and the threads that take them on.
class SweepRun {
 public:
  SweepRun(const SweepRunOptions& options, const SweepCase& what);

  SweepSimulationResult run();

 private:
  /// Everything that happens on lane number `first`, and on others that their threads have left.
  void run_lanes(std::size_t first);
  /// What happens on a lane before its horizon; false: nothing.
  bool advance(SweepLane& lane);
  /// Leaves lanes to another thread, if there is one.
  bool leave(std::span<SweepLane* const> lanes);

  void close();
  SweepSimulationResult collect();

  SweepRunOptions options_;
  SweepCase what_;
  MachineModel model_;
  std::unique_ptr<comm_thread::NetworkGroup> networks_;
  SimulatedRanks::Lanes lanes_;
  std::unique_ptr<SimulatedRanks> ranks_;
  std::atomic<bool> has_failed_{false};
  std::atomic<int> thread_count_{1};  // that are left
};

SweepRun::SweepRun(const SweepRunOptions& options, const SweepCase& what)
    : options_(options),
      what_(what),
      model_(machine_of_run(options), options.rank_count, options.seed) {
  model_.charge_payload(what.charged_values, sizeof(comm_thread::MessageHeader), 0);
  model_.carry_channels(options.transport);
  const int thread_count = useful_threads(options, model_, what.charged_points);
  networks_ = std::make_unique<comm_thread::NetworkGroup>(
      options.rank_count, model_, ranks_of_threads(options, model_, thread_count),
      model_.lookahead());
  for (std::size_t i = 0; i < networks_->size(); ++i) {
    lanes_.push_back(std::make_unique<SweepLane>(options_, networks_->network(i), what.threshold));
    lanes_.back()->index = i;
  }
  ranks_ = std::make_unique<SimulatedRanks>(options_, what_, model_, *networks_, lanes_);
  networks_->join();
}

bool SweepRun::advance(SweepLane& lane) {
  for (bool has_moved = false;; has_moved = true) {
    const double next = lane.next_seconds();
    networks_->promise(lane.index, ranks_->earliest_letter(lane));
    if (next < networks_->horizon(lane.index)) {
      ranks_->happen(lane);
      continue;
    }
    networks_->look(lane.index, [&lane] { return lane.next_seconds(); });
    ranks_->follow_verification(lane);
    if (lane.next_seconds() >= networks_->horizon(lane.index)) return has_moved;
  }
}

void SweepRun::run_lanes(std::size_t first) {
  std::vector<SweepLane*> mine{lanes_[first].get()};
  for (Patience patience;;) {
    bool has_moved = false;
    bool has_crept = false;  // without events, the others' clocks still go on
    for (SweepLane* const lane : mine) {
      const double before = networks_->horizon(lane->index);
      has_moved = advance(*lane) || has_moved;
      has_crept = has_crept || networks_->horizon(lane->index) > before;
    }
    if (has_moved || has_crept) patience.begin();
    if (has_moved) continue;
    const auto is_over = [this](const SweepLane* lane) {
      return lane->events.is_empty() && networks_->is_over(lane->index);
    };
    if (std::ranges::count_if(mine, is_over) > 0) return;
    if (has_failed_.load(std::memory_order_relaxed)) return;
    for (const auto& lane : lanes_)
      if (lane->is_left.load(std::memory_order_relaxed) &&
          lane->is_left.exchange(false, std::memory_order_acquire))
        mine.push_back(lane.get());
    if (mine.size() == lanes_.size()) continue;
    patience.wait();
    if (patience.is_over() && leave(mine)) return;
  }
}

bool SweepRun::leave(std::span<SweepLane* const> lanes) {
  int count = thread_count_.load();
  while (count > 1)
    if (thread_count_.compare_exchange_weak(count, count - 1)) {
      for (SweepLane* const lane : lanes) lane->is_left.store(true, std::memory_order_release);
      return true;
    }
  return false;
}

SweepSimulationResult SweepRun::run() {
  const comm_thread::ComputeTeam team(static_cast<int>(lanes_.size()),
                                      comm_thread::WaitPolicy::yield);
  for (const auto& lane : lanes_) ranks_->begin(*lane);
  thread_count_.store(team.thread_count());
  team.run([this](const comm_thread::TeamThread& thread) {
    try {
      run_lanes(static_cast<std::size_t>(thread.index));
    } catch (...) {
      has_failed_.store(true);
      throw;
    }
  });
  close();
  return collect();
}

/// What is in flight arrives; then nothing may be left.
void SweepRun::close() {
  const auto parts = ranks_->parts();
  for (const auto& part : parts) part->begin_close();
  const auto is_drained = [](const auto& part) { return part->is_drained(); };
  constexpr double long_after = 1e3;
  constexpr int most_rounds = 100;
  for (int round = 0; round < most_rounds && !std::ranges::all_of(parts, is_drained); ++round) {
    for (const auto& lane : lanes_) lane->network.set_now(lane->network.now() + long_after);
    for (const auto& part : parts) part->poll();
    networks_->deliver_all();
  }
  for (const auto& part : parts) part->end_close();
  std::size_t count = 0;
  for (const auto& lane : lanes_) count += lane->network.in_flight();
  if (count > 0)
    throw std::logic_error(fmt::format("simulation: {} messages are left in flight", count));
}

/// Sorts the ranks with the fewest sweeps, and leaves the others out.
void keep_slowest(std::vector<SimulatedRankSpeed>& ranks) {
  const auto by_sweeps = [](const SimulatedRankSpeed& a, const SimulatedRankSpeed& b) {
    return a.sweeps != b.sweeps ? a.sweeps < b.sweeps : a.rank < b.rank;
  };
  constexpr std::size_t shown = 10;
  const std::size_t kept = std::min(shown, ranks.size());
  std::ranges::partial_sort(ranks, ranks.begin() + static_cast<std::ptrdiff_t>(kept), by_sweeps);
  ranks.resize(kept);
}

SweepSimulationResult SweepRun::collect() {
  SweepSimulationResult result;
  result.has_converged = lanes_.front()->has_converged;
  for (const auto& lane : lanes_) {
    result.seconds = std::max(result.seconds, lane->end_seconds);
    result.event_count += lane->event_count;
  }
  ranks_->refresh_halos();
  const auto parts = ranks_->parts();
  double residual_square = 0;
  for (const auto& part : parts) residual_square += part->residual_square(SweepState::current);
  result.relative_residual = std::sqrt(residual_square) / what_.source_norm;
  result.verification_count =
      options_.variant == SimulatedVariant::sync ? 1 : ranks_->verification_count();
  SimulatedPart::Traffic total;
  std::int64_t sweep_sum = 0;
  result.least_sweeps = parts.front()->sweep_count();
  for (int rank = 0; rank < options_.rank_count; ++rank) {
    SimulatedPart& part = *parts[static_cast<std::size_t>(rank)];
    const std::int64_t sweeps = part.sweep_count();
    sweep_sum += sweeps;
    result.least_sweeps = std::min(result.least_sweeps, sweeps);
    result.most_sweeps = std::max(result.most_sweeps, sweeps);
    result.slowest.push_back({rank, sweeps});
    total += part.traffic();
    const std::uint64_t seen =
        static_cast<std::uint64_t>(sweeps) ^ std::bit_cast<std::uint64_t>(part.sample());
    result.hash = (std::rotl(result.hash, 5) ^ seen) * 0x9e3779b97f4a7c15U;
  }
  result.hash ^= std::bit_cast<std::uint64_t>(result.seconds);
  keep_slowest(result.slowest);
  const auto rank_count = static_cast<double>(options_.rank_count);
  result.mean_sweeps = static_cast<double>(sweep_sum) / rank_count;
  result.message_count = total.sent_count;
  result.skipped_count = total.skipped_count;
  result.mean_staleness = total.mean_staleness();
  if (result.seconds > 0)
    result.waiting_fraction = ranks_->waited_seconds() / (result.seconds * rank_count);
  return result;
}

}  // namespace

SweepSimulationResult simulate_sweeps(const SweepRunOptions& options, const SweepCase& what) {
  check(options);
  return SweepRun(options, what).run();
}

}  // namespace weft::solver
