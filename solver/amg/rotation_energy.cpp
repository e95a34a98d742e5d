#include "solver/amg/rotation_energy.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "solver/amg/coarsening/node_columns.h"
#include "solver/amg/coarsening/page_allocator.h"
#include "solver/amg/coarsening/row_values.h"
#include "spmv/rows/halo_plan.h"

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

/// Elasticity is tried with Poisson's ratios up to 0.45 and stiff directions: without this, or with
/// half of it, the lowest vectors of some are of the rim alone.
constexpr double share_at_rim = 0.5;
/// What is left of the sum of the blocks of a row, of the sum of their norms, next to a node that
/// is held.
constexpr double least_rest_at_rim = 1e-6;
/// Makes the Laplacian definite.
constexpr double laplacian_shift = 1e-6;

/// Blocks of nodes that a thread makes, of each node in ascending order of the other.
struct BlockPart {
  std::vector<std::int64_t> ends;
  PageVector<LocalIndex> columns;
  PageVector<double> blocks;  // [columns][size][size]
};

/// The blocks of a node.
class BlockRow {
 public:
  BlockRow(std::size_t node_count, std::size_t size)
      : size_(size), area_(size * size), slots_(node_count, none) {}

  void add(LocalIndex node, std::size_t row, std::size_t column, double value) {
    std::size_t& slot = slots_[static_cast<std::size_t>(node)];
    if (slot == none) {
      slot = met_.size();
      met_.push_back(node);
      blocks_.resize(blocks_.size() + area_);
    }
    blocks_[slot * area_ + row * size_ + column] += value;
  }

  void end_row(const LocalNodes& nodes, BlockPart& part) {
    std::vector<LocalIndex> sorted = met_;
    std::ranges::sort(sorted, {}, [&](LocalIndex node) { return nodes.global(node); });
    for (const LocalIndex node : sorted) {
      const std::size_t slot = std::exchange(slots_[static_cast<std::size_t>(node)], none);
      const auto block = std::span(blocks_).subspan(slot * area_, area_);
      part.columns.push_back(node);
      part.blocks.insert(part.blocks.end(), block.begin(), block.end());
    }
    part.ends.push_back(std::ssize(part.columns));
    met_.clear();
    blocks_.clear();
  }

 private:
  static constexpr auto none = static_cast<std::size_t>(-1);

  std::size_t size_;
  std::size_t area_;
  std::vector<std::size_t> slots_;  // by node
  std::vector<LocalIndex> met_;
  std::vector<double> blocks_;
};

/// The matrix as blocks of nodes, for the nodes of this rank. An own block is always there.
std::vector<BlockPart> make_blocks(const comm_thread::Crew& crew, const LevelMatrix& level,
                                   const NodeRows& nodes, const LocalNodes& local,
                                   std::span<const NodeEntry> tail) {
  const spmv::CrsMatrix& a = level.matrix.rows;
  const auto size = static_cast<GlobalIndex>(nodes.block_size());
  std::vector<BlockPart> parts(static_cast<std::size_t>(crew.team().thread_count()));
  crew.team().run([&](const TeamThread& thread) {
    BlockPart& part = parts[static_cast<std::size_t>(thread.index)];
    BlockRow blocks(local.count(), static_cast<std::size_t>(size));
    const auto share = comm_thread::share_of(nodes.node_count(), thread.index, thread.count);
    for (auto node = static_cast<LocalIndex>(share.begin);
         node < static_cast<LocalIndex>(share.end); ++node) {
      blocks.add(node, 0, 0, 0);
      const LocalIndex begin = nodes.head_count() + node * nodes.block_size();
      const LocalIndex end = std::min(level.row_count(), begin + nodes.block_size());
      for (LocalIndex row = begin; row < end; ++row)
        for (auto k = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row)]);
             k < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row) + 1]); ++k)
          blocks.add(local.of_column[static_cast<std::size_t>(a.columns[k])],
                     static_cast<std::size_t>(row - begin),
                     static_cast<std::size_t>(level.matrix.global_column(a.columns[k]) % size),
                     a.values[k]);
      if (node + 1 == nodes.node_count())  // the rest of the last node
        for (const NodeEntry& entry : tail)
          blocks.add(local.local(entry.column / size), static_cast<std::size_t>(entry.row % size),
                     static_cast<std::size_t>(entry.column % size), entry.value);
      blocks.end_row(local, part);
    }
  });
  return parts;
}

double norm_of(std::span<const double> block) {
  double sum = 0;
  for (const double value : block) sum += value * value;
  return std::sqrt(sum);
}

/// Calls visit(node, columns, blocks) for the nodes of a thread.
template <class Visit>
void visit_nodes(const BlockPart& part, std::size_t first_node, std::size_t area,
                 const Visit& visit) {
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < part.ends.size(); ++i) {
    const auto from = static_cast<std::size_t>(begin);
    const auto count = static_cast<std::size_t>(part.ends[i] - begin);
    visit(first_node + i, std::span(part.columns).subspan(from, count),
          std::span(part.blocks).subspan(from * area, count * area));
    begin = part.ends[i];
  }
}

/// True if the blocks of a row do not add up to zero.
bool is_at_rim(std::span<const double> blocks, std::size_t area) {
  std::vector<double> sum(area);
  double norms = 0;
  for (std::size_t begin = 0; begin < blocks.size(); begin += area) {
    for (std::size_t i = 0; i < area; ++i) sum[i] += blocks[begin + i];
    norms += norm_of(blocks.subspan(begin, area));
  }
  return norm_of(sum) > least_rest_at_rim * norms;
}

/// Rows of both matrices, whose patterns are known.
class EnergyRows {
 public:
  EnergyRows(RotationEnergy& made, std::size_t size, const RowValues<double>& rim)
      : made_(made), size_(size), rim_(rim) {}

  void fill(std::size_t node, std::span<const LocalIndex> columns,
            std::span<const double> blocks) const {
    const std::size_t area = size_ * size_;
    const auto first = static_cast<std::size_t>(made_.laplacian.rows.row_offsets[node]);
    std::vector<double> own(area);  // what takes the place of the own block
    double weights = 0;
    std::size_t own_place = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto other = static_cast<std::size_t>(columns[i]);
      made_.laplacian.rows.columns[first + i] = columns[i];
      if (other == node) {
        own_place = i;
        continue;
      }
      const auto block = blocks.subspan(i * area, area);
      const double weight = norm_of(block);
      weights += weight;
      made_.laplacian.rows.values[first + i] = -weight;
      const double at_rim = share_at_rim * rim_[node] * rim_[other] * weight;
      double trace = -at_rim;
      for (std::size_t c = 0; c < size_; ++c) trace += block[c * size_ + c];
      for (std::size_t b = 0; b < size_; ++b)
        for (std::size_t e = 0; e < size_; ++e) {
          const double value = (b == e ? trace : 0) - block[e * size_ + b];
          own[b * size_ + e] -= value;
          set(node, columns.size(), b, i, e, other, value);
        }
    }
    made_.laplacian.rows.values[first + own_place] =
        weights > 0 ? (1 + laplacian_shift) * weights : 1;
    for (std::size_t b = 0; b < size_; ++b)
      for (std::size_t e = 0; e < size_; ++e)
        set(node, columns.size(), b, own_place, e, node, own[b * size_ + e]);
  }

 private:
  /// Entry (b, e) of block i of a node.
  void set(std::size_t node, std::size_t count, std::size_t b, std::size_t i, std::size_t e,
           std::size_t other, double value) const {
    const auto first = static_cast<std::size_t>(made_.laplacian.rows.row_offsets[node]);
    const std::size_t place = first * size_ * size_ + b * count * size_ + i * size_ + e;
    made_.energy.rows.columns[place] = static_cast<LocalIndex>(other * size_ + e);
    made_.energy.rows.values[place] = value;
  }

  RotationEnergy& made_;
  std::size_t size_;
  const RowValues<double>& rim_;  // 1 for nodes next to those that are held, else 0
};

/// Offsets of the rows, and room for their entries.
void allocate_energy(const std::vector<BlockPart>& parts, std::size_t size, RotationEnergy& made) {
  const auto node_count =
      static_cast<std::size_t>(made.laplacian.partition.size(made.laplacian.rank));
  const auto allocate_rows = [](spmv::CrsMatrix& rows, std::size_t row_count,
                                std::size_t entry_count) {
    rows.row_count = static_cast<LocalIndex>(row_count);
    rows.row_offsets = perfmodel::HugePageBuffer<std::int64_t>(row_count + 1);
    rows.columns = perfmodel::HugePageBuffer<LocalIndex>(entry_count);
    rows.values = perfmodel::HugePageBuffer<double>(entry_count);
  };
  std::size_t blocks = 0;
  for (const BlockPart& part : parts) blocks += part.columns.size();
  allocate_rows(made.laplacian.rows, node_count, blocks);
  allocate_rows(made.energy.rows, node_count * size, blocks * size * size);
  made.laplacian.rows.row_offsets[0] = made.energy.rows.row_offsets[0] = 0;
  std::size_t node = 0;
  std::int64_t before = 0;
  const auto width = static_cast<std::int64_t>(size);
  for (const BlockPart& part : parts) {
    std::int64_t begin = 0;
    for (const std::int64_t end : part.ends) {
      for (std::size_t b = 1; b <= size; ++b)
        made.energy.rows.row_offsets[node * size + b] =
            (before + begin) * width * width + static_cast<std::int64_t>(b) * (end - begin) * width;
      made.laplacian.rows.row_offsets[++node] = before + end;
      begin = end;
    }
    before += begin;
  }
}

}  // namespace

RotationEnergy collective_build_rotation_energy(const comm_thread::Crew& crew,
                                                const LevelMatrix& level, const NodeRows& nodes) {
  const std::vector<NodeEntry> tail = collective_fetch_tail(crew, level, nodes);
  const LocalNodes local(level, nodes, tail);
  const auto size = static_cast<std::size_t>(nodes.block_size());
  const std::vector<BlockPart> parts = make_blocks(crew, level, nodes, local, tail);

  const int rank = level.matrix.rank;
  std::vector<GlobalIndex> sizes;
  for (int i = 0; i < nodes.nodes().rank_count(); ++i)
    sizes.push_back(nodes.nodes().size(i) * nodes.block_size());
  RotationEnergy made{
      .energy = {.partition = spmv::RowPartition::by_sizes(sizes),
                 .rank = rank,
                 .rows = {},
                 .halo_columns = {}},
      .laplacian = {
          .partition = nodes.nodes(), .rank = rank, .rows = {}, .halo_columns = local.others}};
  for (const GlobalIndex node : local.others)
    for (GlobalIndex i = 0; i < nodes.block_size(); ++i)
      made.energy.halo_columns.push_back(node * nodes.block_size() + i);
  allocate_energy(parts, size, made);

  const spmv::HaloPlan plan = spmv::collective_build_halo_plan(
      crew.communicator(), made.laplacian.partition, rank, made.laplacian.halo_columns);
  std::vector<LocalIndex> thread_nodes{0};
  for (const BlockPart& part : parts)
    thread_nodes.push_back(thread_nodes.back() + static_cast<LocalIndex>(part.ends.size()));
  RowValues<double> rim(crew, plan, thread_nodes, 0);
  const EnergyRows rows(made, size, rim);
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    const auto visit = [&](const auto& work) {
      visit_nodes(parts[index], static_cast<std::size_t>(thread_nodes[index]), size * size, work);
    };
    visit([&](std::size_t node, auto /*columns*/, std::span<const double> blocks) {
      rim[node] = is_at_rim(blocks, size * size) ? 1 : 0;
    });
    rim.collective_renew(thread);
    visit([&](std::size_t node, std::span<const LocalIndex> columns,
              std::span<const double> blocks) { rows.fill(node, columns, blocks); });
  });
  made.laplacian.global_nonzero_count =
      crew.communicator().sum(made.laplacian.rows.nonzero_count());
  made.energy.global_nonzero_count = crew.communicator().sum(made.energy.rows.nonzero_count());
  return made;
}

}  // namespace weft::solver::amg
