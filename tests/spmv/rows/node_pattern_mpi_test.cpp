#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "spmv/problems/problem.h"
#include "spmv/rows/node_pattern.h"
#include "spmv/rows/scramble.h"
#include "tests/support/mpi_main.h"
#include "tests/support/serial_reference.h"
#include "tests/support/thread_count.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using tests::ReferenceMatrix;

ReferenceMatrix matrix_of(const std::string& problem) {
  return tests::reference_matrix(Problem::parse(problem));
}

using Entry = std::function<double(int row, int column)>;

/// A block of `size` rows in the place of each entry, times `entry`.
ReferenceMatrix blown_up(const ReferenceMatrix& points, int size, const Entry& entry) {
  ReferenceMatrix nodes(points.size() * static_cast<std::size_t>(size));
  for (std::size_t point = 0; point < points.size(); ++point)
    for (int i = 0; i < size; ++i)
      for (const auto& [other, value] : points[point])
        for (int j = 0; j < size; ++j)
          if (const double factor = entry(i, j); factor != 0)
            nodes[point * static_cast<std::size_t>(size) + static_cast<std::size_t>(i)]
                 [other * size + j] = factor * value;
  return nodes;
}

double coupled(int row, int column) { return row == column ? 1 : 0.3; }
double apart(int row, int column) { return row == column ? 1 : 0; }

/// Row and column i of the result are number `old_row(i)` of the matrix.
ReferenceMatrix renumbered(const ReferenceMatrix& matrix,
                           const std::function<std::size_t(std::size_t)>& old_row) {
  std::vector<GlobalIndex> new_row(matrix.size());
  for (std::size_t row = 0; row < matrix.size(); ++row)
    new_row[old_row(row)] = static_cast<GlobalIndex>(row);
  ReferenceMatrix result(matrix.size());
  for (std::size_t row = 0; row < matrix.size(); ++row)
    for (const auto& [column, value] : matrix[old_row(row)])
      result[row][new_row[static_cast<std::size_t>(column)]] = value;
  return result;
}

/// A random order of the nodes.
ReferenceMatrix shuffled(const ReferenceMatrix& matrix, std::size_t size) {
  std::vector<std::size_t> nodes(matrix.size() / size);
  for (std::size_t node = 0; node < nodes.size(); ++node) nodes[node] = node;
  std::ranges::sort(nodes, {}, [](std::size_t node) { return scramble(node); });
  return renumbered(matrix, [&](std::size_t row) { return nodes[row / size] * size + row % size; });
}

/// Rows for which `is_fixed` keep a one on the diagonal; nothing is left of their columns.
ReferenceMatrix fixed(ReferenceMatrix matrix, const std::function<bool(std::size_t)>& is_fixed) {
  for (std::size_t row = 0; row < matrix.size(); ++row) {
    std::erase_if(matrix[row], [&](const auto& entry) {
      return is_fixed(row) || is_fixed(static_cast<std::size_t>(entry.first));
    });
    if (is_fixed(row)) matrix[row] = {{static_cast<GlobalIndex>(row), 1.0}};
  }
  return matrix;
}

/// Without the rows and columns for which `is_fixed`.
ReferenceMatrix without(const ReferenceMatrix& matrix,
                        const std::function<bool(std::size_t)>& is_fixed) {
  std::vector<GlobalIndex> new_row(matrix.size());
  GlobalIndex count = 0;
  for (std::size_t row = 0; row < matrix.size(); ++row) new_row[row] = is_fixed(row) ? -1 : count++;
  ReferenceMatrix result;
  for (std::size_t row = 0; row < matrix.size(); ++row) {
    if (is_fixed(row)) continue;
    auto& kept = result.emplace_back();
    for (const auto& [column, value] : matrix[row])
      if (const GlobalIndex to = new_row[static_cast<std::size_t>(column)]; to >= 0)
        kept[to] = value;
  }
  return result;
}

/// What is found on all ranks, and on this one alone.
int node_size_of(const ReferenceMatrix& matrix) {
  const auto world = Communicator::collective_world();
  const comm_thread::ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  const auto find = [&](const Communicator& communicator) {
    const auto rows = static_cast<GlobalIndex>(matrix.size());
    return collective_find_node_size(
        communicator,
        tests::collective_distribute(communicator, team, matrix,
                                     RowPartition::by_rows(rows, communicator.size())));
  };
  const int size = find(world);
  CHECK(find(Communicator::self()) == size);
  return size;
}

}  // namespace

TEST_CASE("rows of nodes are found by the pattern, on any ranks") {
  for (int size = 2; size <= most_rows_of_found_node; ++size)
    for (const std::string problem :
         {"poisson2d:14x16", "diffusion3d:7,jumps:1000", "anisotropic3d:6x7x8,1,0.1,0.001"}) {
      CAPTURE(size, problem);
      const ReferenceMatrix nodes = blown_up(matrix_of(problem), size, coupled);
      CHECK(node_size_of(nodes) == size);
      CHECK(node_size_of(shuffled(nodes, static_cast<std::size_t>(size))) == size);
    }
  CHECK(node_size_of(matrix_of("elasticity3d:6x5x4")) == 3);
  CHECK(node_size_of(matrix_of("elasticity3d:40x1x1,nu=0.45")) == 3);
  CHECK(node_size_of(matrix_of("elasticity3d:9x6x2,nu=0")) == 3);
}

TEST_CASE("rows of Dirichlet do not hide nodes") {
  const ReferenceMatrix bar = matrix_of("elasticity3d:6x5x4");
  CHECK(node_size_of(fixed(bar, [](std::size_t row) { return row / 3 % 6 == 2; })) == 3);
  CHECK(node_size_of(fixed(bar, [](std::size_t row) { return row % 18 == 4; })) == 3);
  CHECK(node_size_of(without(bar, [](std::size_t row) { return row / 3 % 6 == 2; })) == 3);
}

TEST_CASE("rows that are no nodes, or whose nodes are not clear, are not taken for some") {
  for (const std::string problem :
       {"poisson2d:24x24", "poisson2d:2x180", "poisson2d:3x120", "poisson2d:4x90", "poisson2d:6x60",
        "poisson3d:8", "poisson3d:2x12x15", "poisson3d:3x12x10", "poisson3d:6x8x8",
        "anisotropic3d:12x6x5,1,0.001,0.001", "diffusion3d:8,lognormal:2",
        "irregular:600,nnzr=7,bandwidth=40,seed=3"}) {
    CAPTURE(problem);
    CHECK(node_size_of(matrix_of(problem)) == 1);
  }
  const auto point = matrix_of("poisson2d:18x20");
  // Bands, in which every cut is like any other.
  for (const GlobalIndex width : {2, 3, 6, 11}) {
    CAPTURE(width);
    ReferenceMatrix band(360);
    for (GlobalIndex row = 0; row < 360; ++row)
      for (GlobalIndex column = std::max<GlobalIndex>(0, row - width);
           column <= std::min<GlobalIndex>(359, row + width); ++column)
        band[static_cast<std::size_t>(row)][column] =
            row == column ? 2 * static_cast<double>(width) : -1;
    CHECK(node_size_of(band) == 1);
  }
  for (const int size : {2, 3, 6}) {
    CAPTURE(size);
    // Several substances, that diffuse each by itself, and that react in each point.
    ReferenceMatrix nodes = blown_up(point, size, apart);
    CHECK(node_size_of(nodes) == 1);
    for (std::size_t row = 0; row < nodes.size(); ++row)
      for (int i = 0; i < size; ++i)
        nodes[row][static_cast<GlobalIndex>(row) / size * size + i] += 0.1;
    CHECK(node_size_of(nodes) == 1);
    // Blocks whose components are nothing that can be constant at no cost.
    ReferenceMatrix uneven = blown_up(point, size, coupled);
    for (std::size_t row = 0; row < uneven.size(); ++row)
      for (auto& [column, value] : uneven[row])
        value *= scramble(row * uneven.size() + static_cast<std::size_t>(column)) % 2 == 0 ? 1 : -1;
    CHECK(node_size_of(uneven) == 1);
  }
}

TEST_CASE("rows in another order inside their nodes, or without one here and there, are none") {
  const ReferenceMatrix bar = matrix_of("elasticity3d:6x5x4");
  CHECK(node_size_of(renumbered(bar, [](std::size_t row) {
          return row / 3 * 3 + (row + scramble(row / 3) % 3) % 3;
        })) == 1);
  CHECK(node_size_of(without(bar, [](std::size_t row) { return row % 54 == 4; })) == 1);
  // All components of one kind, then all of the next.
  const std::size_t nodes = bar.size() / 3;
  CHECK(node_size_of(
            renumbered(bar, [&](std::size_t row) { return row % nodes * 3 + row / nodes; })) == 1);
}

}  // namespace weft::spmv
