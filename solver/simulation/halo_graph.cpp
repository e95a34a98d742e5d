#include "solver/simulation/halo_graph.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "solver/simulation/machine.h"
#include "spmv/problems/generator.h"
#include "spmv/rows/partition.h"

namespace weft::solver {
namespace {

using spmv::GlobalIndex;
using spmv::RowPartition;

/// Entries that one rank after the other needs of the others.
class Needed {
 public:
  explicit Needed(const RowPartition& partition)
      : partition_(partition),
        last_needed_by_(static_cast<std::size_t>(partition.row_count()), -1),
        counts_(static_cast<std::size_t>(partition.rank_count())) {}

  void begin(int rank) {
    rank_ = rank;
    owners_.clear();
  }
  /// True if the rank needs nothing for a row of these columns.
  bool is_interior(std::span<const GlobalIndex> columns) {
    bool is_interior = true;
    for (const GlobalIndex column : columns) {
      if (partition_.begin(rank_) <= column && column < partition_.end(rank_)) continue;
      is_interior = false;
      need(column);
    }
    return is_interior;
  }
  /// Calls take(owner, count) for each owner, and forgets all.
  template <class Take>
  void end(const Take& take) {
    for (const int owner : owners_)
      take(owner, std::exchange(counts_[static_cast<std::size_t>(owner)], 0));
  }

 private:
  void need(GlobalIndex column) {
    std::int32_t& by = last_needed_by_[static_cast<std::size_t>(column)];
    if (by == rank_) return;
    by = rank_;
    if (column < partition_.begin(owner_) || column >= partition_.end(owner_))
      owner_ = partition_.owner(column);
    if (counts_[static_cast<std::size_t>(owner_)]++ == 0) owners_.push_back(owner_);
  }

  const RowPartition& partition_;
  std::vector<std::int32_t> last_needed_by_;  // [row_count]: a rank
  std::vector<std::int32_t> counts_;  // [rank_count]: of an owner
  std::vector<int> owners_;  // whose count is not 0
  int rank_ = 0;
  int owner_ = 0;  // of the last column
};

}  // namespace

template <class VisitRows>
void HaloGraph::build(GlobalIndex row_count, int rank_count, const VisitRows& visit) {
  expect_between("simulated ranks", rank_count, 1, 1 << 20);
  constexpr GlobalIndex most_rows = GlobalIndex{1} << 31;
  row_count_ = row_count;
  expect_between("rows of the simulated problem", row_count_, 1, most_rows);
  const RowPartition partition = RowPartition::by_rows(row_count_, rank_count);
  Needed needed(partition);
  std::vector<Received> all;
  for (int rank = 0; rank < rank_count; ++rank) {
    Part own{.rows = partition.size(rank)};
    needed.begin(rank);
    visit(partition.begin(rank), partition.end(rank), [&](std::span<const GlobalIndex> columns) {
      own.interior_rows += needed.is_interior(columns) ? 1 : 0;
      own.nonzeros += std::ssize(columns);
    });
    needed.end([&](int owner, std::int32_t count) { all.push_back({owner, {rank, count}}); });
    nonzero_count_ += own.nonzeros;
    parts_.push_back(own);
  }
  sort_by_sender(all);
}

HaloGraph::HaloGraph(const spmv::Problem& problem, int rank_count) {
  if (problem.is_file())
    throw comm_thread::InputError(
        fmt::format("{}: found a file; expected a generated problem", problem.path));
  build(problem.row_count(), rank_count,
        [&](GlobalIndex begin, GlobalIndex end, const auto& on_row) {
          spmv::visit_rows(
              problem, begin, end,
              [&](GlobalIndex, std::span<const GlobalIndex> columns, auto) { on_row(columns); });
        });
}

HaloGraph::HaloGraph(const spmv::DistributedMatrix& matrix, int rank_count) {
  const spmv::CrsMatrix& rows = matrix.rows;
  std::vector<GlobalIndex> columns;
  build(matrix.partition.row_count(), rank_count,
        [&](GlobalIndex begin, GlobalIndex end, const auto& on_row) {
          for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end);
               ++row) {
            const auto first = static_cast<std::size_t>(rows.row_offsets[row]);
            const auto last = static_cast<std::size_t>(rows.row_offsets[row + 1]);
            columns.assign(rows.columns.data() + first, rows.columns.data() + last);
            on_row(columns);
          }
        });
}

void HaloGraph::sort_by_sender(std::span<const Received> all) {
  std::vector<std::size_t> next(parts_.size());
  for (const Received& each : all) ++next[static_cast<std::size_t>(each.from)];
  std::exclusive_scan(next.begin(), next.end(), next.begin(), std::size_t{0});
  for (std::size_t rank = 0; rank < parts_.size(); ++rank) parts_[rank].first_message = next[rank];
  messages_.resize(all.size());
  for (const Received& each : all)
    messages_[next[static_cast<std::size_t>(each.from)]++] = each.message;
}

std::span<const HaloGraph::Message> HaloGraph::sent_by(int rank) const {
  const std::size_t begin = part(rank).first_message;
  const std::size_t end = rank + 1 < rank_count() ? part(rank + 1).first_message : messages_.size();
  return std::span(messages_).subspan(begin, end - begin);
}

std::int64_t HaloGraph::entry_count() const {
  std::int64_t count = 0;
  for (const Message& message : messages_) count += message.count;
  return count;
}

int HaloGraph::busy_rank_count() const {
  return static_cast<int>(
      std::ranges::count_if(parts_, [](const Part& part) { return part.rows > 0; }));
}

std::int64_t HaloGraph::most_rows() const {
  return std::ranges::max_element(parts_, {}, &Part::rows)->rows;
}

}  // namespace weft::solver
