#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsening/aggregates.h"
#include "solver/amg/coarsening/galerkin.h"
#include "solver/amg/coarsening/independent_set.h"
#include "solver/amg/coarsening/prolongator.h"
#include "solver/amg/coarsening/renewed_galerkin.h"
#include "solver/amg/coarsening/strong_rows.h"
#include "solver/amg/hierarchy.h"
#include "solver/amg/level_operator.h"
#include "solver/amg/spectral_bound.h"
#include "tests/solver/amg/crew_system.h"

namespace weft::solver::amg {
namespace {

using comm_thread::Communicator;
using spmv::GlobalIndex;
using tests::CrewSystem;
using tests::ReferenceMatrix;

constexpr double threshold = 0.25;
constexpr double factor = 0.7;

const std::vector<std::string> problems{"poisson2d:17x13", "poisson3d:7",
                                        "anisotropic3d:8,1,1,0.01", "diffusion3d:7,lognormal:2",
                                        "irregular:600,nnzr=7,bandwidth=40,seed=3"};

/// All steps of the set-up of one level.
struct SetUp {
  SetUp(const Communicator& communicator, const std::string& problem, int threads,
        GlobalIndex rows_a_rank = 1)
      : system(communicator, problem, threads),
        crew(system.op().crew()),
        level{.matrix = system.op().matrix().matrix(),
              .plan = system.op().halo_plan(),
              .thread_rows = {system.op().matrix().thread_rows().begin(),
                              system.op().matrix().thread_rows().end()}},
        strong(crew, level, threshold),
        roots(crew, level, strong),
        gathering(gathering_of(rows_a_rank)),
        aggregates(crew, level, strong, roots, gathering),
        columns(aggregates.partition(), crew.communicator().rank()),
        prolongator(collective_build_prolongator(crew, level, strong, aggregates, factor, columns)),
        product(collective_multiply_galerkin(crew, level, prolongator, aggregates.roots(),
                                             aggregates.partition(), columns, 1, true)) {}

  CrewSystem system;
  comm_thread::Crew crew;
  LevelMatrix level;
  StrongRows strong;
  IndependentSet roots;
  Gathering gathering;
  Aggregates aggregates;
  CoarseColumns columns;
  CouplingRows<float> prolongator;
  GalerkinProduct product;
};

/// The largest −a_ij of every row.
std::vector<double> strongest_couplings(const ReferenceMatrix& matrix) {
  std::vector<double> strongest(matrix.size());
  for (std::size_t row = 0; row < matrix.size(); ++row)
    for (const auto& [column, value] : matrix[row])
      if (column != static_cast<GlobalIndex>(row))
        strongest[row] = std::max(strongest[row], -value);
  return strongest;
}

/// Strong neighbours of every row, by the definition.
std::vector<std::set<GlobalIndex>> strong_graph(const ReferenceMatrix& matrix) {
  const std::vector<double> strongest = strongest_couplings(matrix);
  std::vector<std::set<GlobalIndex>> graph(matrix.size());
  for (std::size_t row = 0; row < matrix.size(); ++row)
    for (const auto& [column, value] : matrix[row])
      if (column != static_cast<GlobalIndex>(row) &&
          -value >=
              threshold * std::min(strongest[row], strongest[static_cast<std::size_t>(column)]))
        graph[row].insert(column);
  return graph;
}

}  // namespace

TEST_CASE("strong couplings are those of the definition and the filtered rows keep their sums") {
  for (const std::string& problem : problems) {
    CAPTURE(problem);
    const ReferenceMatrix matrix = tests::reference_matrix(spmv::Problem::parse(problem));
    const auto graph = strong_graph(matrix);
    const SetUp setup(Communicator::collective_world(), problem, tests::thread_count());
    for (std::size_t i = 0; i < setup.system.count(); ++i) {
      const std::size_t row = setup.system.first() + i;
      std::set<GlobalIndex> found;
      double sum = setup.strong.diagonal(i);
      for (const auto& [value, column] : setup.strong.couplings(i)) {
        found.insert(setup.level.matrix.global_column(column));
        sum += value;
      }
      CHECK(found == graph[row]);
      double whole = 0;
      for (const auto& [column, value] : matrix[row]) whole += value;
      CHECK(sum == Approx(whole).margin(1e-9));
    }
  }
}

TEST_CASE("rows know how many depend on them, and all ranks how many couplings are one-way") {
  for (const std::string& problem : problems) {
    CAPTURE(problem);
    const ReferenceMatrix matrix = tests::reference_matrix(spmv::Problem::parse(problem));
    const auto graph = strong_graph(matrix);
    const auto strongest = strongest_couplings(matrix);
    const SetUp setup(Communicator::collective_world(), problem, tests::thread_count());
    std::vector<int> dependents(matrix.size());
    double one_way = 0;
    double all = 0;
    for (std::size_t row = 0; row < matrix.size(); ++row)
      for (const GlobalIndex column : graph[row]) {
        const auto other = static_cast<std::size_t>(column);
        const double value = -matrix[row].at(column);
        const bool is_others = value >= threshold * strongest[other];
        dependents[row] += is_others;
        one_way += is_others != (value >= threshold * strongest[row]);
        all += 1;
      }
    for (std::size_t i = 0; i < setup.system.count(); ++i)
      CHECK(setup.strong.dependent_count(i) == dependents[setup.system.first() + i]);
    CHECK(setup.strong.one_way_share() == Approx(one_way / all));
  }
}

TEST_CASE("the independent set is independent and maximal, and the same on any ranks") {
  for (const std::string& problem : problems) {
    CAPTURE(problem);
    const auto graph = strong_graph(tests::reference_matrix(spmv::Problem::parse(problem)));
    const SetUp together(Communicator::collective_world(), problem, tests::thread_count());
    const SetUp alone(Communicator::self(), problem, 1);
    for (std::size_t row = 0; row < graph.size(); ++row) {
      // Rows at most two couplings away, without the row itself.
      std::set<GlobalIndex> near;
      for (const GlobalIndex next : graph[row]) {
        near.insert(next);
        near.insert(graph[static_cast<std::size_t>(next)].begin(),
                    graph[static_cast<std::size_t>(next)].end());
      }
      near.erase(static_cast<GlobalIndex>(row));
      const auto roots_near = std::ranges::count_if(near, [&](GlobalIndex other) {
        return alone.roots.is_root(static_cast<std::size_t>(other));
      });
      if (alone.roots.is_root(row))
        CHECK(roots_near == 0);
      else
        CHECK(roots_near > 0);
    }
    for (std::size_t i = 0; i < together.system.count(); ++i)
      CHECK(together.roots.is_root(i) == alone.roots.is_root(together.system.first() + i));
  }
}

TEST_CASE("aggregates are connected, numbered by their roots, and the same on any ranks") {
  for (const std::string& problem : problems) {
    CAPTURE(problem);
    const auto graph = strong_graph(tests::reference_matrix(spmv::Problem::parse(problem)));
    const SetUp together(Communicator::collective_world(), problem, tests::thread_count());
    const SetUp alone(Communicator::self(), problem, 1);
    GlobalIndex next = 0;
    for (std::size_t row = 0; row < graph.size(); ++row) {
      const GlobalIndex number = alone.aggregates.of(row);
      if (alone.roots.is_root(row)) {
        CHECK(number == next++);
        for (const GlobalIndex neighbour : graph[row])
          CHECK(alone.aggregates.of(static_cast<std::size_t>(neighbour)) == number);
      }
      CHECK(number != Aggregates::none);
      CHECK((graph[row].empty() || std::ranges::any_of(graph[row], [&](GlobalIndex neighbour) {
               return alone.aggregates.of(static_cast<std::size_t>(neighbour)) == number;
             })));
    }
    CHECK(next == alone.aggregates.partition().row_count());
    for (std::size_t i = 0; i < together.system.count(); ++i)
      CHECK(together.aggregates.of(i) == alone.aggregates.of(together.system.first() + i));
  }
}

TEST_CASE("the coarse matrix is the Galerkin product, with the same bits on any ranks") {
  for (const std::string& problem : problems) {
    CAPTURE(problem);
    const ReferenceMatrix a = tests::reference_matrix(spmv::Problem::parse(problem));
    const SetUp together(Communicator::collective_world(), problem, tests::thread_count());
    const SetUp alone(Communicator::self(), problem, 1);
    // Pᵀ·A·P straight from its definition.
    ReferenceMatrix expected(static_cast<std::size_t>(alone.aggregates.partition().row_count()));
    for (std::size_t i = 0; i < a.size(); ++i)
      for (const auto& [m, value] : a[i])
        for (const auto& left : alone.prolongator.row(i))
          for (const auto& right : alone.prolongator.row(static_cast<std::size_t>(m)))
            expected[static_cast<std::size_t>(left.column)][right.column] +=
                static_cast<double>(left.value) * value * static_cast<double>(right.value);
    const auto row_of = [](const spmv::DistributedMatrix& matrix, std::size_t row) {
      std::vector<std::pair<GlobalIndex, double>> entries;
      for (auto k = matrix.rows.row_offsets[row]; k < matrix.rows.row_offsets[row + 1]; ++k)
        entries.emplace_back(matrix.global_column(matrix.rows.columns[std::size_t(k)]),
                             matrix.rows.values[std::size_t(k)]);
      return entries;
    };
    double largest = 0;
    for (const auto& row : expected)
      for (const auto& [column, value] : row) largest = std::max(largest, std::abs(value));
    for (std::size_t row = 0; row < expected.size(); ++row) {
      const auto entries = row_of(alone.product.matrix, row);
      CHECK(entries.size() == expected[row].size());
      std::size_t k = 0;
      for (const auto& [column, value] : expected[row]) {
        CHECK(entries[k].first == column);
        CHECK(std::abs(entries[k++].second - value) < 1e-13 * largest);
      }
    }
    CHECK(together.product.matrix.global_nonzero_count ==
          alone.product.matrix.global_nonzero_count);
    const auto first = static_cast<std::size_t>(together.product.matrix.first_row());
    for (std::size_t row = 0; row < std::size_t(together.product.matrix.rows.row_count); ++row)
      CHECK(row_of(together.product.matrix, row) == row_of(alone.product.matrix, first + row));
  }
}

TEST_CASE("a product that is kept has the bits of the product for other values") {
  const GlobalIndex rows_a_rank = GENERATE(1, 1000);  // on all ranks, on one
  for (const std::string& problem : problems) {
    CAPTURE(problem, rows_a_rank);
    SetUp setup(Communicator::collective_world(), problem, tests::thread_count(), rows_a_rank);
    for (const double share : {1.25, 1.5}) {
      setup.system.change_values([&](GlobalIndex row, GlobalIndex column, double value) {
        return row == column ? share * value : value;
      });
      CoarseColumns columns(setup.aggregates.partition(), setup.crew.communicator().rank());
      const auto prolongator = collective_build_prolongator(setup.crew, setup.level, setup.strong,
                                                            setup.aggregates, factor, columns);
      const GalerkinProduct expected = collective_multiply_galerkin(
          setup.crew, setup.level, prolongator, setup.aggregates.roots(),
          setup.aggregates.partition(), columns);
      spmv::DistributedMatrix& found = setup.product.matrix;
      collective_renew_galerkin(setup.crew, setup.level, setup.prolongator, setup.columns,
                                setup.product.restriction, setup.product.kept, 1, found);
      CHECK(std::ranges::equal(found.rows.columns.span(), expected.matrix.rows.columns.span()));
      CHECK(std::ranges::equal(found.rows.values.span(), expected.matrix.rows.values.span()));
    }
  }
}

TEST_CASE("rows of the prolongator that lead anywhere are not smoothed") {
  CrewSystem system(Communicator::collective_world(), "irregular:6000,nnzr=15,bandwidth=2000");
  const Hierarchy<float> hierarchy(system.op(), {.direct_rows = 20});
  CHECK(hierarchy.levels().size() > 1);
  for (std::size_t i = 0; i + 1 < hierarchy.levels().size(); ++i) {
    const auto entries =
        system.op().communicator().sum(hierarchy.levels()[i]->prolongation->nonzero_count());
    CHECK(entries <= 8 * hierarchy.levels()[i]->report.rows);
  }
}

TEST_CASE("a coarse level moves to fewer ranks without a change of bits") {
  const std::string problem = "diffusion3d:9,lognormal:2";
  const SetUp alone(Communicator::self(), problem, 1);
  const GlobalIndex rows = alone.aggregates.partition().row_count();
  for (const GlobalIndex rows_a_rank : {GlobalIndex{1}, rows / 3, rows / 2, rows}) {
    CAPTURE(rows, rows_a_rank);
    const SetUp together(Communicator::collective_world(), problem, tests::thread_count(),
                         rows_a_rank);
    const spmv::RowPartition& partition = together.aggregates.partition();
    const int ranks = together.crew.communicator().size();
    GlobalIndex holders = 0;
    for (int rank = 0; rank < ranks; ++rank) holders += partition.size(rank) > 0;
    CHECK(partition.row_count() == rows);
    CHECK(holders == std::min<GlobalIndex>(ranks, rows / rows_a_rank));
    const spmv::CrsMatrix& found = together.product.matrix.rows;
    const spmv::CrsMatrix& expected = alone.product.matrix.rows;
    const auto begin = static_cast<std::size_t>(
        expected.row_offsets[std::size_t(together.product.matrix.first_row())]);
    for (std::size_t k = 0; k < std::size_t(found.nonzero_count()); ++k) {
      CHECK(together.product.matrix.global_column(found.columns[k]) == expected.columns[begin + k]);
      CHECK(found.values[k] == expected.values[begin + k]);
    }
    const CouplingRows<float>& restriction = together.product.restriction.rows;
    const auto first = static_cast<std::size_t>(together.product.matrix.first_row());
    CHECK(restriction.row_count() == static_cast<std::size_t>(found.row_count));
    for (std::size_t row = 0; row < restriction.row_count(); ++row)
      CHECK(std::ranges::equal(restriction.row(row),
                               alone.product.restriction.rows.row(first + row), {},
                               &Coupling<float>::value, &Coupling<float>::value));
  }
}

TEST_CASE("the prolongator has the definition's entries and R is its transpose") {
  const SetUp setup(Communicator::self(), "diffusion3d:6,lognormal:2", tests::thread_count());
  const auto n = setup.system.count();
  std::vector<std::vector<double>> transposed(static_cast<std::size_t>(setup.columns.own_count()),
                                              std::vector<double>(n));
  for (std::size_t row = 0; row < transposed.size(); ++row) {
    GlobalIndex last = -1;
    for (const auto& [value, column] : setup.product.restriction.rows.row(row)) {
      CHECK(column > last);
      last = column;
      transposed[row][static_cast<std::size_t>(column)] = static_cast<double>(value);
    }
  }
  for (std::size_t row = 0; row < n; ++row) {
    std::vector<double> expected(transposed.size());
    expected[static_cast<std::size_t>(setup.aggregates.of(row))] += 1 - factor;
    for (const auto& [value, column] : setup.strong.couplings(row))
      expected[static_cast<std::size_t>(setup.aggregates.of(static_cast<std::size_t>(column)))] -=
          factor * value / setup.strong.diagonal(row);
    std::vector<double> found(transposed.size());
    for (const auto& [value, column] : setup.prolongator.row(row))
      found[static_cast<std::size_t>(column)] = static_cast<double>(value);
    for (std::size_t column = 0; column < found.size(); ++column) {
      CHECK(found[column] == Approx(expected[column]).epsilon(1e-6).margin(1e-7));
      CHECK(found[column] == transposed[column][row]);
    }
  }
}

TEST_CASE("Lanczos finds the largest eigenvalue, with the same bits on any ranks") {
  // 1 − cos on a grid of n × n points has eigenvalues up to 1 + cos(π/(n + 1)).
  const std::string problem = "poisson2d:20x20";
  const auto estimate = [&](const Communicator& communicator, int threads) {
    CrewSystem system(communicator, problem, threads);
    comm_thread::Crew crew(system.op().crew());
    const spmv::DistributedMatrix& matrix = system.op().matrix().matrix();
    const auto cuts = system.op().matrix().thread_rows();
    const auto for_row = [&](spmv::LocalIndex row, const auto& visit) {
      for (auto k = matrix.rows.row_offsets[std::size_t(row)];
           k < matrix.rows.row_offsets[std::size_t(row) + 1]; ++k)
        if (matrix.rows.columns[std::size_t(k)] != row)
          visit(matrix.rows.columns[std::size_t(k)], matrix.rows.values[std::size_t(k)]);
    };
    const LevelOperator<double> off_diagonal(
        crew, system.op().halo_plan(), {cuts.begin(), cuts.end()},
        [&](spmv::LocalIndex row) {
          std::int64_t count = 0;
          for_row(row, [&](spmv::LocalIndex, double) { ++count; });
          return count;
        },
        [&](spmv::LocalIndex row) {
          bool needs_halo = false;
          for_row(row, [&](spmv::LocalIndex column, double) {
            needs_halo |= column >= matrix.rows.row_count;
          });
          return needs_halo;
        },
        [&](spmv::LocalIndex row, const auto& add) {
          for_row(row, [&](spmv::LocalIndex column, double value) { add(value / 4, column); });
        });
    return collective_estimate_largest(crew, off_diagonal, matrix.first_row(),
                                       matrix.partition.row_count(), 1);
  };
  const double alone = estimate(Communicator::self(), 1);
  const double exact = 1 + std::cos(M_PI / 21);
  CHECK(alone < exact * (1 + 1e-12));
  CHECK(alone > 0.93 * exact);
  CHECK(estimate(Communicator::collective_world(), tests::thread_count()) == alone);
}

}  // namespace weft::solver::amg
