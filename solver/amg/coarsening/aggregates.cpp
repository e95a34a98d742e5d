#include "solver/amg/coarsening/aggregates.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::solver::amg {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

namespace {

/// Puts consecutive ranks with rows together: `groups` of about equal size. The first rank of a
/// group gets its rows.
spmv::RowPartition gather(const spmv::RowPartition& roots, std::int64_t groups) {
  const GlobalIndex all = roots.row_count();
  std::vector<GlobalIndex> sizes;
  for (int rank = 0; rank < roots.rank_count(); ++rank) sizes.push_back(roots.size(rank));
  if (groups >= std::ranges::count_if(sizes, [](GlobalIndex size) { return size > 0; }))
    return roots;
  GlobalIndex before = 0;
  GlobalIndex last_group = -1;
  std::size_t first = 0;
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
    const GlobalIndex size = std::exchange(sizes[rank], 0);
    if (size == 0) continue;
    // The group in which the middle of this rank's rows lies.
    const GlobalIndex group = std::min(groups - 1, (before + size / 2) * groups / all);
    if (group != last_group) first = rank;
    last_group = group;
    sizes[first] += size;
    before += size;
  }
  return spmv::RowPartition::by_sizes(sizes);
}

}  // namespace

Aggregates::Aggregates(const comm_thread::Crew& crew, const LevelMatrix& level,
                       const StrongRows& strong, const IndependentSet& roots, Gathering& gathering,
                       NodeWeights weights)
    : numbers_(crew, level.plan, level.thread_rows, none),
      roots_(spmv::RowPartition::by_sizes(collective_number_roots(crew, level, roots))),
      partition_(roots_) {
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    const auto first = static_cast<std::size_t>(level.thread_rows[index]);
    const auto last = static_cast<std::size_t>(level.thread_rows[index + 1]);
    numbers_.collective_renew(thread);
    for (std::size_t row = first; row < last; ++row)
      if (!roots.is_root(row)) take_neighbours(strong, roots, row);
    numbers_.collective_renew(thread);
    std::vector<std::pair<std::size_t, GlobalIndex>> joining;
    for (std::size_t row = first; row < last; ++row)
      if (numbers_[row] == none && !strong.is_alone(row))
        joining.emplace_back(row, best_neighbour(strong, row));
    thread.barrier();
    for (const auto& [row, number] : joining) numbers_[row] = number;
    numbers_.collective_renew(thread);
  });
  partition_ = gather(
      roots_, collective_rank_count(gathering, crew, level, roots_.row_count(), weights, numbers_));
}

std::vector<GlobalIndex> Aggregates::collective_number_roots(const comm_thread::Crew& crew,
                                                             const LevelMatrix& level,
                                                             const IndependentSet& roots) {
  GlobalIndex count = 0;
  const auto row_count = static_cast<std::size_t>(level.row_count());
  for (std::size_t row = 0; row < row_count; ++row) count += roots.is_root(row);
  GlobalIndex next = crew.communicator().exclusive_prefix_sum(count);
  for (std::size_t row = 0; row < row_count; ++row)
    if (roots.is_root(row)) numbers_[row] = next++;
  return crew.communicator().all_gather(count);
}

/// Where couplings are strong in one direction only, there may be several roots: the strongest.
void Aggregates::take_neighbours(const StrongRows& strong, const IndependentSet& roots,
                                 std::size_t row) {
  double strongest = -1;
  for (const auto& [value, neighbour] : strong.couplings(row)) {
    const auto column = static_cast<std::size_t>(neighbour);
    if (!roots.is_root(column) || std::abs(value) <= strongest) continue;
    strongest = std::abs(value);
    numbers_[row] = numbers_[column];
  }
}

GlobalIndex Aggregates::best_neighbour(const StrongRows& strong, std::size_t row) const {
  std::vector<std::pair<GlobalIndex, double>> sums;  // a few
  for (const auto& [value, column] : strong.couplings(row)) {
    const GlobalIndex number = numbers_[static_cast<std::size_t>(column)];
    if (number == none) continue;
    const auto place = std::ranges::find(sums, number, &std::pair<GlobalIndex, double>::first);
    if (place == sums.end())
      sums.emplace_back(number, std::abs(value));
    else
      place->second += std::abs(value);
  }
  GlobalIndex best = none;
  double most = -1;
  for (const auto& [number, sum] : sums)
    if (sum > most || (sum == most && number < best)) {
      most = sum;
      best = number;
    }
  return best;
}

}  // namespace weft::solver::amg
