#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "solver/amg/coarsening/aggregates.h"
#include "solver/amg/coarsening/near_null_space.h"
#include "solver/amg/coarsening/node_matrix.h"
#include "solver/amg/coarsening/node_rows.h"
#include "solver/amg/coarsening/tentative_prolongator.h"
#include "spmv/rows/thread_rows.h"
#include "tests/solver/amg/crew_system.h"

namespace weft::solver::amg {
namespace {

using comm_thread::Communicator;
using spmv::GlobalIndex;
using tests::CrewSystem;
using tests::ReferenceMatrix;

constexpr int block = 3;
const std::string problem = "elasticity3d:5x2x2";

/// Some vectors of a row, the last of which is the sum of the first two.
std::vector<double> vectors_of_row(GlobalIndex row) {
  const auto number = static_cast<double>(row);
  const double first = 1 + 0.25 * static_cast<double>(row % block);
  const double second = std::sin(number);
  return {first, second, number, first + second};
}
constexpr std::size_t width = 4;

/// The steps up to the tentative prolongator.
struct Nodes {
  Nodes(const Communicator& communicator, int threads)
      : system(communicator, problem, threads),
        crew(system.op().crew()),
        level{.matrix = system.op().matrix().matrix(),
              .plan = system.op().halo_plan(),
              .thread_rows = {system.op().matrix().thread_rows().begin(),
                              system.op().matrix().thread_rows().end()}},
        rows(level.matrix.partition, level.matrix.rank, block),
        matrix(collective_condense(crew, level, rows)),
        of_nodes{.matrix = matrix,
                 .plan = spmv::collective_build_halo_plan(crew.communicator(), matrix.partition,
                                                          matrix.rank, matrix.halo_columns),
                 .thread_rows = spmv::cut_rows_for_threads(matrix.rows.row_offsets.span(), 1,
                                                           crew.team().thread_count())},
        strong(crew, of_nodes, 0.25),
        roots(crew, of_nodes, strong),
        aggregates(crew, of_nodes, strong, roots, gathering),
        columns(coarse_rows_of(aggregates.partition(), width), crew.communicator().rank()) {
    for (std::size_t row = 0; row < system.count(); ++row) {
      const auto values = vectors_of_row(static_cast<GlobalIndex>(system.first() + row));
      space.insert(space.end(), values.begin(), values.end());
    }
    tentative = collective_build_tentative(crew, level, rows, aggregates, space,
                                           static_cast<int>(width), columns);
  }

  std::map<GlobalIndex, double> row_of_t(std::size_t row) const {
    std::map<GlobalIndex, double> entries;
    for (const auto& [value, column] : tentative.rows.row(row))
      entries[columns.global(column)] = static_cast<double>(value);
    return entries;
  }

  CrewSystem system;
  comm_thread::Crew crew;
  LevelMatrix level;
  NodeRows rows;
  spmv::DistributedMatrix matrix;
  LevelMatrix of_nodes;
  StrongRows strong;
  IndependentSet roots;
  Gathering gathering = gathering_of(1);
  Aggregates aggregates;
  CoarseColumns columns;
  std::vector<double> space{};
  TentativeProlongator tentative{};
};

std::map<GlobalIndex, double> row_of(const spmv::DistributedMatrix& matrix, std::size_t row) {
  std::map<GlobalIndex, double> entries;
  GlobalIndex last = -1;
  for (auto k = matrix.rows.row_offsets[row]; k < matrix.rows.row_offsets[row + 1]; ++k) {
    const GlobalIndex column = matrix.global_column(matrix.rows.columns[std::size_t(k)]);
    CHECK(column > last);
    last = column;
    entries[column] = matrix.rows.values[std::size_t(k)];
  }
  return entries;
}

}  // namespace

TEST_CASE("the matrix of nodes has the norms of blocks, with the same bits on any ranks") {
  const ReferenceMatrix a = tests::reference_matrix(spmv::Problem::parse(problem));
  const Nodes together(Communicator::collective_world(), tests::thread_count());
  const Nodes alone(Communicator::self(), 1);
  for (std::size_t node = 0; node < a.size() / block; ++node) {
    std::map<GlobalIndex, double> squares;
    for (std::size_t row = block * node; row < block * (node + 1); ++row)
      for (const auto& [column, value] : a[row]) squares[column / block] += value * value;
    const auto found = row_of(alone.matrix, node);
    CHECK(found.size() == squares.size());
    for (const auto& [other, square] : squares)
      CHECK(
          found.at(other) ==
          Approx(other == static_cast<GlobalIndex>(node) ? std::sqrt(square) : -std::sqrt(square)));
  }
  CHECK(together.matrix.partition.row_count() == std::ssize(a) / block);
  const auto first = static_cast<std::size_t>(together.matrix.first_row());
  for (std::size_t node = 0; node < static_cast<std::size_t>(together.rows.node_count()); ++node)
    CHECK(row_of(together.matrix, node) == row_of(alone.matrix, first + node));
}

TEST_CASE("values of nodes reach all rows of them") {
  Nodes nodes(Communicator::collective_world(), tests::thread_count());
  std::vector<double> values;
  for (GlobalIndex node = nodes.matrix.first_row();
       node < nodes.matrix.first_row() + nodes.rows.node_count(); ++node) {
    values.push_back(static_cast<double>(node));
    values.push_back(static_cast<double>(-node));
  }
  const auto spread = nodes.rows.collective_spread<double>(nodes.crew.communicator(), values, 2);
  CHECK(spread.size() == 2 * nodes.system.count());
  for (std::size_t row = 0; row < nodes.system.count(); ++row) {
    const std::size_t number = (nodes.system.first() + row) / block;
    const auto node = static_cast<double>(number);
    CHECK(spread[2 * row] == node);
    CHECK(spread[2 * row + 1] == -node);
  }
}

TEST_CASE("T has orthonormal columns and represents the vectors, with the same bits on any ranks") {
  const Nodes together(Communicator::collective_world(), tests::thread_count());
  const Nodes alone(Communicator::self(), 1);
  const auto row_count = alone.system.count();
  const auto coarse_count = static_cast<std::size_t>(alone.columns.own_count());
  std::vector<std::vector<double>> products(coarse_count, std::vector<double>(coarse_count));
  for (std::size_t row = 0; row < row_count; ++row) {
    const auto t = alone.row_of_t(row);
    for (std::size_t j = 0; j < width; ++j) {
      double sum = 0;
      for (const auto& [column, value] : t)
        sum += value * alone.tentative.coarse_space[std::size_t(column) * width + j];
      const double expected = vectors_of_row(static_cast<GlobalIndex>(row))[j];
      CHECK(sum == Approx(expected).margin(1e-4));
    }
    for (const auto& [i, left] : t)
      for (const auto& [j, right] : t) products[std::size_t(i)][std::size_t(j)] += left * right;
  }
  for (std::size_t i = 0; i < coarse_count; ++i)
    for (std::size_t j = 0; j < coarse_count; ++j) {
      // The fourth vector depends on the first two: its columns are zero.
      const bool is_zero = i % width == 3 || j % width == 3;
      CHECK(products[i][j] == Approx(i == j && !is_zero ? 1 : 0).margin(1e-6));
    }
  for (std::size_t row = 0; row < together.system.count(); ++row)
    CHECK(together.row_of_t(row) == alone.row_of_t(together.system.first() + row));
  const auto begin = static_cast<std::size_t>(coarse_rows_of(together.aggregates.partition(), width)
                                                  .begin(together.crew.communicator().rank()));
  for (std::size_t i = 0; i < together.tentative.coarse_space.size(); ++i)
    CHECK(together.tentative.coarse_space[i] == alone.tentative.coarse_space[begin * width + i]);
}

}  // namespace weft::solver::amg
