#include "solver/simulation/lockstep_ranks.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace weft::solver {

LockstepRanks::LockstepRanks(MachineModel& model, const HaloGraph& graph)
    : model_(model),
      graph_(graph),
      now_(static_cast<std::size_t>(graph.rank_count())),
      arrived_(now_.size()),
      begun_(now_.size()),
      order_(now_.size()) {
  std::iota(order_.begin(), order_.end(), 0);
}

/// Of equal times the lowest rank first.
void LockstepRanks::sort_by_time() {
  const auto is_earlier = [this](int one, int other) {
    const double first = now_[static_cast<std::size_t>(one)];
    const double second = now_[static_cast<std::size_t>(other)];
    return first != second ? first < second : one < other;
  };
  if (!std::is_sorted(order_.begin(), order_.end(), is_earlier))
    std::sort(order_.begin(), order_.end(), is_earlier);
}

double LockstepRanks::arrival(int from, int to, std::size_t bytes, double begin) {
  const comm_thread::SimulatedRoute route{from, to, 0};
  ++message_count_;
  message_bytes_ += static_cast<double>(bytes);
  return model_.arrival(route, bytes, model_.departure(route, bytes, begin));
}

void LockstepRanks::post_halos(std::size_t entry_bytes) {
  sort_by_time();
  std::ranges::fill(arrived_, 0);
  for (const int rank : order_)
    for (const HaloGraph::Message& message : graph_.sent_by(rank)) {
      double& last = arrived_[static_cast<std::size_t>(message.to)];
      last = std::max(
          last, arrival(rank, message.to, static_cast<std::size_t>(message.count) * entry_bytes,
                        now_[static_cast<std::size_t>(rank)]));
    }
}

void LockstepRanks::wait_for_halos() {
  for (std::size_t rank = 0; rank < now_.size(); ++rank) {
    const double waits = std::max(0.0, arrived_[rank] - now_[rank]);
    halo_wait_ += waits;
    now_[rank] += waits;
  }
}

/// A round of recursive doubling: ranks below `core` at that distance.
void LockstepRanks::exchange_pairs(int distance, int core, std::size_t bytes) {
  sort_by_time();
  for (const int rank : order_)
    if (rank < core)
      arrived_[static_cast<std::size_t>(rank ^ distance)] =
          arrival(rank, rank ^ distance, bytes, now_[static_cast<std::size_t>(rank)]);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(core); ++rank)
    now_[rank] = std::max(now_[rank], arrived_[rank]);
}

/// The rounds of comm_thread::add_recursive_doubling.
void LockstepRanks::all_reduce(std::size_t bytes) {
  const int count = graph_.rank_count();
  if (count == 1) return;
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(count)));
  sort_by_time();
  begun_ = now_;
  const auto send = [&](int from, int to) {
    double& there = now_[static_cast<std::size_t>(to)];
    there = std::max(there, arrival(from, to, bytes, now_[static_cast<std::size_t>(from)]));
  };
  for (const int rank : order_)
    if (rank >= core) send(rank, rank - core);
  for (int distance = 1; distance < core; distance *= 2) exchange_pairs(distance, core, bytes);
  sort_by_time();
  for (const int rank : order_)
    if (rank < count - core) send(rank, rank + core);
  for (std::size_t rank = 0; rank < now_.size(); ++rank) sum_wait_ += now_[rank] - begun_[rank];
}

double LockstepRanks::seconds() const { return *std::ranges::max_element(now_); }

double LockstepRanks::take_computed() { return std::exchange(computed_, 0.0); }

}  // namespace weft::solver
