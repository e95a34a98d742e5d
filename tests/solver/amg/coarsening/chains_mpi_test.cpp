#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsening/aggregates.h"
#include "solver/amg/coarsening/chains.h"
#include "solver/amg/coarsening/independent_set.h"
#include "solver/amg/coarsening/prolongator.h"
#include "solver/amg/coarsening/strong_rows.h"
#include "tests/solver/amg/crew_system.h"
#include "tests/support/serial_reference.h"

namespace weft::solver::amg {
namespace {

using comm_thread::Communicator;
using spmv::GlobalIndex;
using tests::CrewSystem;

/// D^(-1/2) of this rank's rows.
std::vector<double> scale_of(CrewSystem& system) {
  std::vector<double> scale = system.op().matrix().diagonal();
  for (double& value : scale) value = 1 / std::sqrt(value);
  return scale;
}

/// The steps of the set-up of one level, with chains.
struct ChainSetUp {
  /// `matrix`: a problem or its rows.
  template <class Matrix>
  ChainSetUp(const Communicator& communicator, const Matrix& matrix, int threads)
      : system(communicator, matrix, threads),
        crew(system.op().crew()),
        level{.matrix = system.op().matrix().matrix(),
              .plan = system.op().halo_plan(),
              .thread_rows = {system.op().matrix().thread_rows().begin(),
                              system.op().matrix().thread_rows().end()}},
        strong(crew, level, 0.25),
        roots(crew, level, strong),
        aggregates(crew, level, strong, roots, gathering),
        columns(aggregates.partition(), crew.communicator().rank()),
        scale(scale_of(system)),
        chains(crew, level, strong, roots, aggregates, scale, true),
        prolongator(
            collective_build_prolongator(crew, level, strong, aggregates, 0.7, columns, &chains)) {}

  std::map<GlobalIndex, float> row_of_p(std::size_t row) const {
    std::map<GlobalIndex, float> found;
    for (const auto& [value, column] : prolongator.row(row)) found[columns.global(column)] = value;
    return found;
  }

  std::map<GlobalIndex, float> row_of_inverse(std::size_t row) const {
    std::map<GlobalIndex, float> found;
    const auto own = system.count();
    const Chains::InverseRow inverse = chains.inverse(row);
    for (const auto& [value, column] : inverse.span()) {
      const auto place = static_cast<std::size_t>(column);
      found[place < own ? static_cast<GlobalIndex>(system.first() + place)
                        : chains.halo_rows[place - own]] = value;
    }
    return found;
  }

  /// What a row is to a link next to it: rows that are no links have the value of their aggregate.
  std::map<GlobalIndex, float> value_in_a_chain(std::size_t row) const {
    return chains.is_link(row) ? row_of_p(row)
                               : std::map<GlobalIndex, float>{{aggregates.of(row), 1.0F}};
  }

  /// True if the rows here are those that one thread of one rank makes.
  bool is_as(const ChainSetUp& alone) const {
    for (std::size_t row = 0; row < system.count(); ++row)
      if (row_of_p(row) != alone.row_of_p(system.first() + row) ||
          row_of_inverse(row) != alone.row_of_inverse(system.first() + row))
        return false;
    return true;
  }

  CrewSystem system;
  comm_thread::Crew crew;
  LevelMatrix level;
  StrongRows strong;
  IndependentSet roots;
  Gathering gathering = gathering_of(1);
  Aggregates aggregates;
  CoarseColumns columns;
  std::vector<double> scale;
  Chains chains;
  CouplingRows<float> prolongator;
};

/// Lines of 61 points, hardly coupled; pairs of lines, and a plane, where ends and corners are
/// links next to rows that are none.
const std::vector<std::string> problems{"anisotropic3d:61x5x1,1,0.001,0.001",
                                        "anisotropic3d:12x5x2,1,0.001,0.5", "poisson2d:9"};

}  // namespace

TEST_CASE("links of a chain are interpolated from roots such that A_F·P is zero in them") {
  for (const std::string& problem : problems) {
    CAPTURE(problem);
    const ChainSetUp alone(Communicator::self(), problem, 1);
    int links = 0;
    for (std::size_t row = 0; row < alone.system.count(); ++row) {
      const auto neighbours = alone.strong.couplings(row);
      if (neighbours.size() > 2 || neighbours.empty()) continue;
      const auto own = alone.row_of_p(row);
      if (alone.roots.is_root(row)) {
        CHECK(own == std::map<GlobalIndex, float>{{alone.aggregates.of(row), 1.0F}});
        continue;
      }
      ++links;
      CHECK(own.size() <= 2);
      std::map<GlobalIndex, double> sums;
      for (const auto& [column, value] : own)
        sums[column] += alone.strong.diagonal(row) * static_cast<double>(value);
      for (const auto& [coupling, neighbour] : neighbours)
        for (const auto& [column, value] :
             alone.value_in_a_chain(static_cast<std::size_t>(neighbour)))
          sums[column] += coupling * static_cast<double>(value);
      for (const auto& [column, sum] : sums)
        CHECK(std::abs(sum) <= 1e-5 * alone.strong.diagonal(row));
    }
    CHECK(links > 0);
  }
}

TEST_CASE("the inverse in the links is that of their strong couplings, and symmetric") {
  for (const std::string& problem : problems) {
    CAPTURE(problem);
    const ChainSetUp alone(Communicator::self(), problem, 1);
    for (std::size_t row = 0; row < alone.system.count(); ++row) {
      const auto inverse = alone.row_of_inverse(row);
      CHECK(inverse.empty() != alone.chains.is_link(row));
      std::map<GlobalIndex, double> product;  // with the scaled matrix
      for (const auto& [middle, value] : inverse) {
        const auto link = static_cast<std::size_t>(middle);
        CHECK(alone.row_of_inverse(link).at(static_cast<GlobalIndex>(row)) == value);
        product[middle] += static_cast<double>(value);
        for (const auto& [coupling, neighbour] : alone.strong.couplings(link)) {
          const auto other = static_cast<std::size_t>(neighbour);
          if (alone.chains.is_link(other))
            product[neighbour] +=
                static_cast<double>(value) * coupling * alone.scale[link] * alone.scale[other];
        }
      }
      for (const auto& [column, value] : product)
        CHECK(value == Approx(column == static_cast<GlobalIndex>(row) ? 1 : 0).margin(1e-6));
    }
  }
}

TEST_CASE("couplings that are strong for one of their rows but for rounding depend on no rank") {
  constexpr std::int64_t size = 60;
  // The weak couplings of a line of points are at the threshold, as if by rounding on either side.
  for (std::int64_t period = 2; period < 7; ++period)
    for (const bool is_strong_for_lower : {false, true}) {
      CAPTURE(period, is_strong_for_lower);
      tests::ReferenceMatrix matrix(size);
      for (std::int64_t i = 0; i < size; ++i) matrix[static_cast<std::size_t>(i)][i] = 0.05;
      for (std::int64_t i = 0; i + 1 < size; ++i) {
        const bool is_near = i % period == 0;
        const double value = is_near ? 0.25 : 1;
        const double other = is_near ? 0.25 * (1 - 3e-11) : 1;
        auto& lower = matrix[static_cast<std::size_t>(i)];
        auto& upper = matrix[static_cast<std::size_t>(i) + 1];
        lower[i + 1] = is_strong_for_lower ? -value : -other;
        upper[i] = is_strong_for_lower ? -other : -value;
        lower[i] += value;
        upper[i + 1] += value;
      }
      const ChainSetUp alone(Communicator::self(), matrix, 1);
      for (const int threads : {1, 2, 3, 7}) {
        const ChainSetUp together(Communicator::collective_world(), matrix, threads);
        CHECK(together.is_as(alone));
      }
    }
}

TEST_CASE("chains are found where nearly all rows are links, and on any ranks alike") {
  for (const std::string& problem : problems) {
    CAPTURE(problem);
    const ChainSetUp together(Communicator::collective_world(), problem, tests::thread_count());
    const ChainSetUp alone(Communicator::self(), problem, 1);
    CHECK(together.strong.is_of_chains() == (problem == problems.front()));
    CHECK(alone.strong.is_of_chains() == (problem == problems.front()));
    CHECK(together.is_as(alone));
  }
}

}  // namespace weft::solver::amg
