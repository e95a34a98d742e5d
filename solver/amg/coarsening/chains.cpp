#include "solver/amg/coarsening/chains.h"

#include <cstdint>
#include <vector>

namespace weft::solver::amg {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

Chains::Chains(Crew& crew, const LevelMatrix& level, const StrongRows& strong,
               const IndependentSet& roots, const Aggregates& aggregates)
    : strong_(strong),
      roots_(roots),
      first_row_(level.matrix.first_row()),
      rows_(crew, level.plan, level.thread_rows, Row{}) {
  /// An end of a link that is not known yet, and what it will be in this round.
  struct Open {
    std::size_t row;
    std::size_t side;
    End end;
  };
  std::vector<std::int64_t> counts(static_cast<std::size_t>(crew.team().thread_count()));
  std::int64_t open_before = 0;
  bool goes_on = true;
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    std::vector<Open> open;
    std::vector<Open> found;
    for (auto row = static_cast<std::size_t>(level.thread_rows[index]);
         row < static_cast<std::size_t>(level.thread_rows[index + 1]); ++row) {
      Row& own = rows_[row];
      const auto columns = strong.columns(row);
      own.is_link = !roots.is_root(row) && !columns.empty() && columns.size() <= 2;
      if (!own.is_link) {
        own.ends[0] = {aggregates.of(row), 0, 1};
        own.is_known[0] = true;
        continue;
      }
      if (columns.size() == 2) own.upper = level.matrix.global_column(columns[1]);
      for (std::size_t side = 0; side < columns.size(); ++side) open.push_back({row, side, {}});
    }
    while (goes_on) {
      rows_.collective_renew(thread);
      found.clear();
      std::erase_if(open, [&](Open& some) {
        const bool is_found = eliminate(some.row, some.side, some.end);
        if (is_found) found.push_back(some);
        return is_found;
      });
      counts[index] = std::ssize(open);
      thread.barrier();
      for (const Open& some : found) {
        rows_[some.row].ends[some.side] = some.end;
        rows_[some.row].is_known[some.side] = true;
      }
      if (thread.is_primary()) {
        std::int64_t sum = 0;
        for (const std::int64_t count : counts) sum += count;
        const std::int64_t open_everywhere = crew.communicator().sum(sum);
        goes_on = open_everywhere > 0 && (open_before == 0 || open_everywhere < open_before);
        open_before = open_everywhere;
      }
      thread.barrier();
    }
  });
}

const Chains::End* Chains::neighbour(std::size_t row, std::size_t side) const {
  const Row& there = rows_[static_cast<std::size_t>(strong_.columns(row)[side])];
  const bool is_second = there.is_link && there.upper == first_row_ + static_cast<GlobalIndex>(row);
  return there.is_known[is_second] ? &there.ends[is_second] : nullptr;
}

/// The end of a link towards the neighbour in place `side`; false: not known yet.
bool Chains::eliminate(std::size_t row, std::size_t side, End& end) const {
  const auto values = strong_.values(row);
  double diagonal = strong_.diagonal(row);
  double constant = 0;
  if (values.size() == 2) {
    const End* const beyond = neighbour(row, 1 - side);
    if (!beyond) return false;
    end.aggregate = beyond->aggregate;
    diagonal += values[1 - side] * static_cast<double>(beyond->share);
    constant = values[1 - side] * static_cast<double>(beyond->constant);
  }
  if (diagonal > 0) {
    end.share = static_cast<float>(-values[side] / diagonal);
    end.constant = static_cast<float>(-constant / diagonal);
  }
  return true;
}

std::array<Chains::Weight, 2> Chains::weights(std::size_t row) const {
  const auto values = strong_.values(row);
  std::array<Weight, 2> weights;
  double diagonal = strong_.diagonal(row);
  for (std::size_t side = 0; side < values.size(); ++side)
    if (const End* const end = neighbour(row, side)) {
      diagonal += values[side] * static_cast<double>(end->share);
      weights[side] = {end->aggregate, -values[side] * static_cast<double>(end->constant)};
    }
  for (Weight& weight : weights) weight.value = diagonal > 0 ? weight.value / diagonal : 0;
  return weights;
}

}  // namespace weft::solver::amg
