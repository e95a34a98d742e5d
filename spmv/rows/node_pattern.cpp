#include "spmv/rows/node_pattern.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/mpi/sparse_exchange.h"

namespace weft::spmv {
namespace {

/// Rows of a place that is looked at: a multiple of every size of a node.
constexpr GlobalIndex rows_of_place = 60;
constexpr GlobalIndex most_places = 16;
constexpr GlobalIndex least_places = 4;
/// Longer rows are left out.
constexpr std::int64_t longest_row = 500;

/// Rows of one node have nearly the same nodes as neighbours: the nodes of each are at least this
/// share of those of all. Grids with one row a point have up to 0.86.
constexpr double least_agreement = 0.85;
/// It is less by so much where nodes begin one row later, or more. In a band it is not.
constexpr double least_margin = 0.1;
/// Entries of other components with other nodes, of all there could be. Trilinear elasticity has
/// 0.46 where zeros are left out, diffusion of several substances 0.
constexpr double least_crossing = 0.1;
/// What is left of the sum of entries of one component in a row, of the sum of magnitudes: 0 but
/// for the rim in elasticity, 0.3 and more where components are something else.
constexpr double most_imbalance = 0.25;
/// At least this share of the nodes that are looked at has more than one row that counts.
constexpr double least_share = 0.25;

struct Entry {
  GlobalIndex row;
  GlobalIndex column;
  double value;
};

using Row = std::span<const Entry>;

GlobalIndex place_count(GlobalIndex row_count) {
  return std::min(most_places, row_count / rows_of_place);
}

/// The first row of a place, the last of which is at the end of the matrix.
GlobalIndex first_row_of(GlobalIndex place, GlobalIndex row_count) {
  const GlobalIndex last = row_count / rows_of_place - 1;
  return place * last / (place_count(row_count) - 1) * rows_of_place;
}

/// The entries of this rank's rows among those that are looked at.
std::vector<Entry> own_sample(const DistributedMatrix& matrix) {
  std::vector<Entry> sample;
  const GlobalIndex row_count = matrix.partition.row_count();
  const GlobalIndex own_begin = matrix.first_row();
  const GlobalIndex own_end = matrix.partition.end(matrix.rank);
  for (GlobalIndex place = 0; place < place_count(row_count); ++place) {
    const GlobalIndex begin = first_row_of(place, row_count);
    for (GlobalIndex row = std::max(begin, own_begin);
         row < std::min(begin + rows_of_place, own_end); ++row) {
      const auto own = static_cast<std::size_t>(row - own_begin);
      const std::int64_t first = matrix.rows.row_offsets[own];
      const std::int64_t last = matrix.rows.row_offsets[own + 1];
      if (last - first > longest_row) continue;
      for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(last); ++k)
        sample.push_back(
            {row, matrix.global_column(matrix.rows.columns[k]), matrix.rows.values[k]});
    }
  }
  return sample;
}

/// The rows of a sample that couple with others.
std::vector<Row> rows_of(std::span<const Entry> sample) {
  std::vector<Row> rows;
  for (std::size_t begin = 0; begin < sample.size();) {
    std::size_t end = begin + 1;
    while (end < sample.size() && sample[end].row == sample[begin].row) ++end;
    const Row row = sample.subspan(begin, end - begin);
    if (row.size() > 1 || row.front().column != row.front().row) rows.push_back(row);
    begin = end;
  }
  return rows;
}

/// A way to cut rows into nodes: the first begins at row `shift`, the rows before are another.
struct Cut {
  int size = 1;
  int shift = 0;

  GlobalIndex node(GlobalIndex row) const { return (row + size - shift) / size; }
};

/// Appends the nodes with which a row is coupled, ascending; returns how many.
std::size_t add_nodes(const Cut& cut, Row row, std::vector<GlobalIndex>& nodes) {
  const std::size_t before = nodes.size();
  for (const Entry& entry : row)
    if (const GlobalIndex node = cut.node(entry.column);
        nodes.size() == before || nodes.back() != node)
      nodes.push_back(node);
  return nodes.size() - before;
}

/// How far rows of one node have the same nodes as neighbours, from 0 to 1.
struct Agreement {
  double value = 0;
  std::int64_t node_count = 0;  // with more than one row
};

Agreement agreement_of(const Cut& cut, std::span<const Row> rows) {
  Agreement agreement;
  std::size_t found = 0;
  std::size_t possible = 0;
  std::vector<GlobalIndex> nodes;
  for (std::size_t begin = 0; begin < rows.size();) {
    const GlobalIndex node = cut.node(rows[begin].front().row);
    nodes.clear();
    std::size_t count = 0;
    std::size_t end = begin;
    for (; end < rows.size() && cut.node(rows[end].front().row) == node; ++end)
      count += add_nodes(cut, rows[end], nodes);
    if (end - begin > 1) {
      std::ranges::sort(nodes);
      const auto others = std::ranges::unique(nodes);
      found += count;
      possible += (end - begin) * (nodes.size() - others.size());
      ++agreement.node_count;
    }
    begin = end;
  }
  if (possible > 0) agreement.value = static_cast<double>(found) / static_cast<double>(possible);
  return agreement;
}

/// Entries of other components with other nodes, of all there could be.
double crossing_of(int size, std::span<const Row> rows) {
  const Cut cut{size};
  std::int64_t crossing = 0;
  std::int64_t possible = 0;
  for (const Row row : rows) {
    const GlobalIndex own = cut.node(row.front().row);
    GlobalIndex last = own;
    for (const Entry& entry : row) {
      const GlobalIndex node = cut.node(entry.column);
      if (node == own) continue;
      if (node != last) possible += size - 1;
      last = node;
      crossing += entry.column % size != entry.row % size ? 1 : 0;
    }
  }
  return possible > 0 ? static_cast<double>(crossing) / static_cast<double>(possible) : 0;
}

/// What is left of the entries of one component in a row, of the component with least.
double imbalance_of(int size, std::span<const Row> rows) {
  std::array<double, most_rows_of_found_node> rests{};
  std::array<double, most_rows_of_found_node> magnitudes{};
  for (const Row row : rows) {
    std::array<double, most_rows_of_found_node> sums{};
    double magnitude = 0;  // rows count alike
    for (const Entry& entry : row) {
      sums[static_cast<std::size_t>(entry.column % size)] += entry.value;
      magnitude += std::abs(entry.value);
    }
    std::array<double, most_rows_of_found_node> own{};
    for (const Entry& entry : row)
      own[static_cast<std::size_t>(entry.column % size)] += std::abs(entry.value) / magnitude;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      rests[i] += std::abs(sums[i]) / magnitude;
      magnitudes[i] += own[i];
    }
  }
  double least = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i)
    if (magnitudes[i] > 0) least = std::min(least, rests[i] / magnitudes[i]);
  return least;
}

bool has_nodes(int size, std::span<const Row> rows, GlobalIndex sampled_rows) {
  const Agreement own = agreement_of({size}, rows);
  if (own.value < least_agreement ||
      static_cast<double>(own.node_count * size) < least_share * static_cast<double>(sampled_rows))
    return false;
  if (crossing_of(size, rows) < least_crossing || imbalance_of(size, rows) > most_imbalance)
    return false;
  for (int shift = 1; shift < size; ++shift)
    if (agreement_of({size, shift}, rows).value > own.value - least_margin) return false;
  return true;
}

int node_size_of(std::span<const Entry> sample, GlobalIndex row_count) {
  const std::vector<Row> rows = rows_of(sample);
  const GlobalIndex sampled_rows = place_count(row_count) * rows_of_place;
  for (int size = most_rows_of_found_node; size > 1; --size)
    if (row_count % size == 0 && has_nodes(size, rows, sampled_rows)) return size;
  return 1;
}

}  // namespace

int collective_find_node_size(const comm_thread::Communicator& communicator,
                              const DistributedMatrix& matrix) {
  const GlobalIndex row_count = matrix.partition.row_count();
  if (row_count < least_places * rows_of_place) return 1;
  comm_thread::Lists<Entry> lists;
  lists[0] = own_sample(matrix);
  const auto sample = comm_thread::collective_exchange_joined(communicator, std::move(lists));
  std::array<std::int64_t, 1> size{1};
  if (communicator.is_root()) size[0] = node_size_of(sample, row_count);
  communicator.broadcast(size, 0);
  return static_cast<int>(size[0]);
}

}  // namespace weft::spmv
