#include "solver/amg/rotation_energy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "solver/amg/coarsening/row_values.h"

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

double norm_of(std::span<const double> block) {
  double sum = 0;
  for (const double value : block) sum += value * value;
  return std::sqrt(sum);
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

/// Calls visit(node, first coupling, end) for the nodes of a part.
template <class Part, class Visit>
void visit_nodes(const Part& part, std::size_t first_node, const Visit& visit) {
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < part.ends.size(); ++i) {
    visit(first_node + i, static_cast<std::size_t>(begin), static_cast<std::size_t>(part.ends[i]));
    begin = part.ends[i];
  }
}

}  // namespace

/// The blocks of a node while its entries are met.
class RotationEnergy::NodeCouplings {
 public:
  NodeCouplings(std::size_t node_count, std::size_t size)
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

  void end_node(const LocalNodes& nodes, Part& part) {
    order_ = met_;
    std::ranges::sort(order_, {}, [&](LocalIndex node) { return nodes.global(node); });
    for (LocalIndex& node : order_) {
      part.columns.push_back(node);
      node = static_cast<LocalIndex>(std::exchange(slots_[static_cast<std::size_t>(node)], none));
    }
    for (const LocalIndex slot : order_) {
      const auto block = std::span(blocks_).subspan(static_cast<std::size_t>(slot) * area_, area_);
      part.weights.push_back(static_cast<float>(norm_of(block)));
      for (const double value : block) part.blocks.push_back(static_cast<float>(value));
    }
    part.is_at_rim.push_back(is_rim() ? 1 : 0);
    part.ends.push_back(std::ssize(part.columns));
    met_.clear();
    blocks_.clear();
  }

 private:
  static constexpr auto none = static_cast<std::size_t>(-1);

  /// True if the blocks, in ascending order of nodes, do not add up to zero.
  bool is_rim() {
    sorted_.clear();
    for (const LocalIndex slot : order_) {
      const auto block = std::span(blocks_).subspan(static_cast<std::size_t>(slot) * area_, area_);
      sorted_.insert(sorted_.end(), block.begin(), block.end());
    }
    return is_at_rim(sorted_, area_);
  }

  std::size_t size_;
  std::size_t area_;
  std::vector<std::size_t> slots_;  // by node
  std::vector<LocalIndex> met_;
  std::vector<LocalIndex> order_;
  std::vector<double> blocks_;
  std::vector<double> sorted_;
};

/// Fills the parts with the blocks A_IJ. An own block is always there.
void RotationEnergy::make_blocks(const comm_thread::Crew& crew, const LevelMatrix& level,
                                 const NodeRows& nodes, const LocalNodes& local,
                                 std::span<const NodeEntry> tail) {
  const spmv::CrsMatrix& a = level.matrix.rows;
  const auto size = static_cast<GlobalIndex>(size_);
  std::vector<unsigned char> component;  // of each local column in its node
  component.reserve(local.of_column.size());
  for (std::size_t column = 0; column < local.of_column.size(); ++column)
    component.push_back(static_cast<unsigned char>(
        level.matrix.global_column(static_cast<LocalIndex>(column)) % size));
  crew.team().run([&](const TeamThread& thread) {
    Part& part = parts_[static_cast<std::size_t>(thread.index)];
    NodeCouplings couplings(local.count(), size_);
    const auto share = comm_thread::share_of(nodes.node_count(), thread.index, thread.count);
    const auto row_of = [&](std::int64_t node) {
      return static_cast<std::size_t>(std::min<std::int64_t>(
          level.row_count(), nodes.head_count() + node * nodes.block_size()));
    };
    const auto entries = static_cast<std::size_t>(a.row_offsets[row_of(share.end)] -
                                                  a.row_offsets[row_of(share.begin)]);
    part.columns.reserve(entries / (size_ * size_));
    part.weights.reserve(entries / (size_ * size_));
    part.blocks.reserve(entries);
    for (auto node = share.begin; node < share.end; ++node) {
      couplings.add(static_cast<LocalIndex>(node), 0, 0, 0);
      const std::size_t begin = row_of(node);
      for (std::size_t row = begin; row < row_of(node + 1); ++row)
        for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
             k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k) {
          const auto column = static_cast<std::size_t>(a.columns[k]);
          couplings.add(local.of_column[column], row - begin, component[column], a.values[k]);
        }
      if (node + 1 == nodes.node_count())  // the rest of the last node
        for (const NodeEntry& entry : tail)
          couplings.add(local.local(entry.column / size),
                        static_cast<std::size_t>(entry.row % size),
                        static_cast<std::size_t>(entry.column % size), entry.value);
      couplings.end_node(local, part);
    }
  });
}

/// A_IJ becomes E_IJ; an own block becomes zero.
void RotationEnergy::collective_turn_blocks(const comm_thread::Crew& crew) {
  RowValues<double> rim(crew, plan_, thread_nodes_, 0);
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    Part& part = parts_[index];
    const auto first = static_cast<std::size_t>(thread_nodes_[index]);
    for (std::size_t i = 0; i < part.is_at_rim.size(); ++i) rim[first + i] = part.is_at_rim[i];
    rim.collective_renew(thread);
    visit_nodes(part, first, [&](std::size_t node, std::size_t begin, std::size_t end) {
      for (std::size_t place = begin; place < end; ++place) {
        const auto other = static_cast<std::size_t>(part.columns[place]);
        const auto block = std::span(part.blocks).subspan(place * size_ * size_, size_ * size_);
        if (other == node) {
          part.weights[place] = 0;
          std::ranges::fill(block, 0.0F);
          continue;
        }
        double trace = -share_at_rim * rim[node] * rim[other] * part.weights[place];
        for (std::size_t c = 0; c < size_; ++c) trace += block[c * size_ + c];
        for (std::size_t b = 0; b < size_; ++b)
          for (std::size_t e = b; e < size_; ++e) {
            float& upper = block[b * size_ + e];
            float& lower = block[e * size_ + b];
            const double turned = (b == e ? trace : 0) - lower;
            lower = static_cast<float>((b == e ? trace : 0) - upper);
            upper = static_cast<float>(turned);
          }
      }
    });
  });
}

RotationEnergy::RotationEnergy(const comm_thread::Crew& crew, const LevelMatrix& level,
                               const NodeRows& nodes)
    : size_(static_cast<std::size_t>(nodes.block_size())),
      nodes_(nodes.nodes()),
      rank_(level.matrix.rank),
      parts_(static_cast<std::size_t>(crew.team().thread_count())) {
  const std::vector<NodeEntry> tail = collective_fetch_tail(crew, level, nodes);
  LocalNodes local(level, nodes, tail);
  make_blocks(crew, level, nodes, local, tail);
  halo_nodes_ = std::move(local.others);
  thread_nodes_.push_back(0);
  for (const Part& part : parts_)
    thread_nodes_.push_back(thread_nodes_.back() + static_cast<LocalIndex>(part.ends.size()));
  plan_ = spmv::collective_build_halo_plan(crew.communicator(), nodes_, rank_, halo_nodes_);
  collective_turn_blocks(crew);
}

std::vector<char> RotationEnergy::nodes_at_rim() const {
  std::vector<char> all;
  for (const Part& part : parts_)
    all.insert(all.end(), part.is_at_rim.begin(), part.is_at_rim.end());
  return all;
}

spmv::DistributedMatrix RotationEnergy::collective_make_laplacian(
    const comm_thread::Crew& crew) const {
  spmv::DistributedMatrix made{
      .partition = nodes_, .rank = rank_, .rows = {}, .halo_columns = halo_nodes_};
  std::vector<std::int64_t> firsts{0};  // of the couplings of each thread
  for (const Part& part : parts_) firsts.push_back(firsts.back() + std::ssize(part.columns));
  const auto entry_count = static_cast<std::size_t>(firsts.back());
  made.rows.row_count = thread_nodes_.back();
  made.rows.row_offsets =
      perfmodel::HugePageBuffer<std::int64_t>(static_cast<std::size_t>(thread_nodes_.back()) + 1);
  made.rows.columns = perfmodel::HugePageBuffer<LocalIndex>(entry_count);
  made.rows.values = perfmodel::HugePageBuffer<double>(entry_count);
  made.rows.row_offsets[0] = 0;
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    const Part& part = parts_[index];
    const auto first = static_cast<std::size_t>(firsts[index]);
    visit_nodes(part, static_cast<std::size_t>(thread_nodes_[index]),
                [&](std::size_t node, std::size_t begin, std::size_t end) {
                  double sum = 0;
                  std::size_t own = 0;
                  for (std::size_t place = begin; place < end; ++place) {
                    made.rows.columns[first + place] = part.columns[place];
                    made.rows.values[first + place] = -part.weights[place];
                    sum += part.weights[place];
                    if (static_cast<std::size_t>(part.columns[place]) == node) own = place;
                  }
                  made.rows.values[first + own] = sum > 0 ? (1 + laplacian_shift) * sum : 1;
                  made.rows.row_offsets[node + 1] = static_cast<std::int64_t>(first + end);
                });
  });
  made.global_nonzero_count = crew.communicator().sum(made.rows.nonzero_count());
  return made;
}

template <std::size_t size>
void RotationEnergy::multiply_nodes(const Part& part, std::size_t first_node, const double* x,
                                    double* energy, double* length) const {
  visit_nodes(part, first_node, [&](std::size_t node, std::size_t begin, std::size_t end) {
    std::array<double, size> own{};
    std::array<double, size> energies{};
    std::array<double, size> lengths{};
    double sum = 0;
    for (std::size_t c = 0; c < size; ++c) own[c] = x[node * size + c];
    for (std::size_t place = begin; place < end; ++place) {
      const double* const other = x + static_cast<std::size_t>(part.columns[place]) * size;
      const float* const block = part.blocks.data() + place * size * size;
      const double weight = part.weights[place];
      sum += weight;
      for (std::size_t e = 0; e < size; ++e) {
        const double difference = other[e] - own[e];
        lengths[e] -= weight * difference;
        for (std::size_t b = 0; b < size; ++b) energies[b] += block[b * size + e] * difference;
      }
    }
    for (std::size_t c = 0; c < size; ++c) {
      energy[node * size + c] = energies[c];
      length[node * size + c] = lengths[c] + (sum > 0 ? laplacian_shift * sum : 1) * own[c];
    }
  });
}

void RotationEnergy::multiply(const TeamThread& thread, const double* x, double* energy,
                              double* length) const {
  const auto index = static_cast<std::size_t>(thread.index);
  const auto first = static_cast<std::size_t>(thread_nodes_[index]);
  if (size_ == 2)
    multiply_nodes<2>(parts_[index], first, x, energy, length);
  else
    multiply_nodes<3>(parts_[index], first, x, energy, length);
}

}  // namespace weft::solver::amg
