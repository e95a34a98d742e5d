#include "solver/amg/coarsening/node_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "comm_thread/mpi/sparse_exchange.h"

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

struct Entry {
  GlobalIndex row;
  GlobalIndex column;
  double value;
};

/// Entries of rows whose node this rank has, but another rank the row. In order.
std::vector<Entry> collective_fetch_tail(const comm_thread::Crew& crew, const LevelMatrix& level,
                                         const NodeRows& nodes) {
  std::vector<Entry> entries;
  if (!nodes.are_cut()) return entries;
  comm_thread::Lists<Entry> lists;
  const spmv::CrsMatrix& rows = level.matrix.rows;
  for (LocalIndex row = 0; row < nodes.head_count(); ++row)
    for (auto k = rows.row_offsets[static_cast<std::size_t>(row)];
         k < rows.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
      const auto place = static_cast<std::size_t>(k);
      entries.push_back({level.matrix.first_row() + row,
                         level.matrix.global_column(rows.columns[place]), rows.values[place]});
    }
  if (nodes.head_count() > 0) lists[nodes.nodes().owner(nodes.node(0))] = std::move(entries);
  // Ascending ranks have ascending rows.
  return comm_thread::collective_exchange_joined(crew.communicator(), std::move(lists));
}

/// Numbers of nodes on this rank: its own, then others in ascending order.
class LocalNodes {
 public:
  LocalNodes(const LevelMatrix& level, const NodeRows& nodes, std::span<const Entry> tail)
      : first_(nodes.nodes().begin(level.matrix.rank)), own_count_(nodes.node_count()) {
    const auto block = static_cast<GlobalIndex>(nodes.block_size());
    const auto add = [&](GlobalIndex node) {
      if (!is_own(node) && (others.empty() || others.back() != node)) others.push_back(node);
    };
    for (LocalIndex row = 0; row < nodes.head_count(); ++row) add(nodes.node(row));
    for (const GlobalIndex column : level.matrix.halo_columns) add(column / block);
    for (const Entry& entry : tail) add(entry.column / block);
    std::ranges::sort(others);
    others.erase(std::unique(others.begin(), others.end()), others.end());
    const auto column_count =
        static_cast<std::size_t>(level.row_count()) + level.matrix.halo_columns.size();
    of_column.reserve(column_count);
    for (std::size_t column = 0; column < column_count; ++column)
      of_column.push_back(
          local(level.matrix.global_column(static_cast<LocalIndex>(column)) / block));
  }

  LocalIndex local(GlobalIndex node) const {
    if (is_own(node)) return static_cast<LocalIndex>(node - first_);
    return own_count_ +
           static_cast<LocalIndex>(std::ranges::lower_bound(others, node) - others.begin());
  }
  GlobalIndex global(LocalIndex node) const {
    return node < own_count_ ? first_ + node : others[static_cast<std::size_t>(node - own_count_)];
  }
  std::size_t count() const { return static_cast<std::size_t>(own_count_) + others.size(); }

  std::vector<GlobalIndex> others{};
  std::vector<LocalIndex> of_column{};  // by local column of the level's matrix

 private:
  bool is_own(GlobalIndex node) const { return node >= first_ && node < first_ + own_count_; }

  GlobalIndex first_;
  LocalIndex own_count_;
};

/// Rows of nodes that a thread makes.
struct Part {
  std::vector<std::int64_t> ends;
  std::vector<LocalIndex> columns;
  std::vector<double> values;
};

/// Sums the squares of a row of blocks.
class BlockSums {
 public:
  explicit BlockSums(std::size_t node_count) : sums_(node_count, -1) {}

  void add(LocalIndex node, double value) {
    double& sum = sums_[static_cast<std::size_t>(node)];
    if (sum < 0) {
      sum = 0;
      met_.push_back(node);
    }
    sum += value * value;
  }
  void end_row(LocalIndex row, const LocalNodes& nodes, Part& part) {
    std::ranges::sort(met_, {}, [&](LocalIndex node) { return nodes.global(node); });
    for (const LocalIndex node : met_) {
      const double norm = std::sqrt(std::exchange(sums_[static_cast<std::size_t>(node)], -1));
      part.columns.push_back(node);
      part.values.push_back(node == row ? norm : -norm);
    }
    part.ends.push_back(std::ssize(part.columns));
    met_.clear();
  }

 private:
  std::vector<double> sums_;  // by node; negative where it has not been met
  std::vector<LocalIndex> met_;
};

}  // namespace

spmv::DistributedMatrix collective_condense(const comm_thread::Crew& crew, const LevelMatrix& level,
                                            const NodeRows& nodes) {
  const auto tail = collective_fetch_tail(crew, level, nodes);
  const LocalNodes local(level, nodes, tail);
  const spmv::CrsMatrix& a = level.matrix.rows;
  const LocalIndex node_count = nodes.node_count();
  const auto first_row = nodes.head_count();
  std::vector<Part> parts(static_cast<std::size_t>(crew.team().thread_count()));
  crew.team().run([&](const TeamThread& thread) {
    Part& part = parts[static_cast<std::size_t>(thread.index)];
    BlockSums sums(local.count());
    const auto share = comm_thread::share_of(node_count, thread.index, thread.count);
    for (auto node = static_cast<LocalIndex>(share.begin);
         node < static_cast<LocalIndex>(share.end); ++node) {
      const LocalIndex begin = first_row + node * nodes.block_size();
      const LocalIndex end = std::min(level.row_count(), begin + nodes.block_size());
      for (auto k = a.row_offsets[static_cast<std::size_t>(begin)];
           k < a.row_offsets[static_cast<std::size_t>(end)]; ++k) {
        const auto place = static_cast<std::size_t>(k);
        sums.add(local.of_column[static_cast<std::size_t>(a.columns[place])], a.values[place]);
      }
      if (node + 1 == node_count)  // the rest of the last node
        for (const Entry& entry : tail)
          sums.add(local.local(entry.column / nodes.block_size()), entry.value);
      sums.end_row(node, local, part);
    }
  });

  spmv::DistributedMatrix matrix{.partition = nodes.nodes(),
                                 .rank = level.matrix.rank,
                                 .rows = {},
                                 .halo_columns = local.others};
  std::int64_t total = 0;
  for (const Part& part : parts) total += std::ssize(part.columns);
  matrix.rows.row_count = node_count;
  matrix.rows.row_offsets =
      perfmodel::HugePageBuffer<std::int64_t>(static_cast<std::size_t>(node_count) + 1);
  matrix.rows.columns = perfmodel::HugePageBuffer<LocalIndex>(static_cast<std::size_t>(total));
  matrix.rows.values = perfmodel::HugePageBuffer<double>(static_cast<std::size_t>(total));
  std::size_t row = 0;
  std::int64_t before = 0;
  for (const Part& part : parts) {
    for (const std::int64_t end : part.ends) matrix.rows.row_offsets[++row] = before + end;
    const auto start = static_cast<std::ptrdiff_t>(before);
    std::ranges::copy(part.columns, matrix.rows.columns.data() + start);
    std::ranges::copy(part.values, matrix.rows.values.data() + start);
    before += std::ssize(part.columns);
  }
  matrix.global_nonzero_count = crew.communicator().sum(total);
  return matrix;
}

}  // namespace weft::solver::amg
