#include "solver/amg/aggregates.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::solver::amg {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

Aggregates::Aggregates(Crew& crew, const LevelMatrix& level, const StrongRows& strong,
                       const IndependentSet& roots)
    : numbers_(crew, level.plan, level.thread_rows, none),
      partition_(collective_number_roots(crew, level, roots)) {
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
}

spmv::RowPartition Aggregates::collective_number_roots(Crew& crew, const LevelMatrix& level,
                                                       const IndependentSet& roots) {
  GlobalIndex count = 0;
  const auto row_count = static_cast<std::size_t>(level.row_count());
  for (std::size_t row = 0; row < row_count; ++row) count += roots.is_root(row);
  GlobalIndex next = crew.communicator().exclusive_prefix_sum(count);
  for (std::size_t row = 0; row < row_count; ++row)
    if (roots.is_root(row)) numbers_[row] = next++;
  std::vector<GlobalIndex> sizes;
  for (const auto& of_rank : crew.communicator().all_gather(std::vector<std::int64_t>{count}))
    sizes.push_back(of_rank.front());
  return spmv::RowPartition::by_sizes(sizes);
}

/// Where couplings are strong in one direction only, there may be several roots: the strongest.
void Aggregates::take_neighbours(const StrongRows& strong, const IndependentSet& roots,
                                 std::size_t row) {
  double strongest = -1;
  const auto columns = strong.columns(row);
  const auto values = strong.values(row);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const auto column = static_cast<std::size_t>(columns[k]);
    if (!roots.is_root(column) || std::abs(values[k]) <= strongest) continue;
    strongest = std::abs(values[k]);
    numbers_[row] = numbers_[column];
  }
}

GlobalIndex Aggregates::best_neighbour(const StrongRows& strong, std::size_t row) const {
  std::vector<std::pair<GlobalIndex, double>> sums;  // a few
  const auto columns = strong.columns(row);
  const auto values = strong.values(row);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const GlobalIndex number = numbers_[static_cast<std::size_t>(columns[k])];
    if (number == none) continue;
    const auto place = std::ranges::find(sums, number, &std::pair<GlobalIndex, double>::first);
    if (place == sums.end())
      sums.emplace_back(number, std::abs(values[k]));
    else
      place->second += std::abs(values[k]);
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
