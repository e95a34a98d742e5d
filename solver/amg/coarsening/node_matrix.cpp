#include "solver/amg/coarsening/node_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "solver/amg/coarsening/node_columns.h"

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::LocalIndex;

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
  const std::vector<NodeEntry> tail = collective_fetch_tail(crew, level, nodes);
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
        for (const NodeEntry& entry : tail)
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
