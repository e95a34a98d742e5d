#include "solver/multigrid/sweepers/own_restriction.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/placement/compute_team.h"
#include "solver/multigrid/grids/grid_level.h"
#include "spmv/grid/partition.h"
#include "spmv/grid/stencil.h"
#include "spmv/problems/problem.h"
#include "tests/solver/multigrid/sweepers/box_points.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;
using tests::for_each_point;
using tests::place_in;

double x_of(GlobalIndex x, GlobalIndex y, GlobalIndex z) {
  return std::sin(static_cast<double>(3 * x + 5 * y + 7 * z));
}
double b_of(GlobalIndex x, GlobalIndex y, GlobalIndex z) {
  return std::cos(static_cast<double>(x + 2 * y - 4 * z));
}

/// The restriction of b - A·x by definition, at all coarse points.
std::vector<double> reference(const spmv::GridStencil& stencil, const GridLevel& fine,
                              const GridLevel& coarse) {
  const GridBox domain = fine.points();
  const auto value = [&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
    const GridBox point{{x, y, z}, {x + 1, y + 1, z + 1}};
    return intersection(point, domain).is_empty() ? 0 : x_of(x, y, z);
  };
  std::vector<double> r(static_cast<std::size_t>(domain.point_count()));
  for_each_point(domain, [&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
    double product = stencil.centre * value(x, y, z);
    if (stencil.has_corners) {
      product += value(x, y, z);
      for_each_point(
          {{x - 1, y - 1, z - 1}, {x + 2, y + 2, z + 2}},
          [&](GlobalIndex i, GlobalIndex j, GlobalIndex k) { product -= value(i, j, k); });
    } else {
      product -= stencil.weights[0] * (value(x - 1, y, z) + value(x + 1, y, z));
      product -= stencil.weights[1] * (value(x, y - 1, z) + value(x, y + 1, z));
      product -= stencil.weights[2] * (value(x, y, z - 1) + value(x, y, z + 1));
    }
    r[place_in(domain, x, y, z)] = b_of(x, y, z) - product;
  });
  // Weight of fine point `i` for coarse point `c` in a direction.
  const auto weight = [&](std::size_t d, GlobalIndex i, GlobalIndex c) {
    if (!fine.is_coarsened[d]) return i == c ? 1.0 : 0.0;
    const GlobalIndex place = i - 2 * c;
    if (place < 0 || place > 2) return 0.0;
    return fine.directions[d].restriction(c)[static_cast<std::size_t>(place)];
  };
  std::vector<double> sums(static_cast<std::size_t>(coarse.point_count()));
  for_each_point(coarse.points(), [&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
    double sum = 0;
    for_each_point(domain, [&](GlobalIndex i, GlobalIndex j, GlobalIndex k) {
      sum += weight(0, i, x) * weight(1, j, y) * weight(2, k, z) * r[place_in(domain, i, j, k)];
    });
    sums[place_in(coarse.points(), x, y, z)] = sum / (fine.scale * coarse.scale);
  });
  return sums;
}

TEST_CASE("shares of all ranks add up to the restricted residual") {
  const comm_thread::ComputeTeam team(2, comm_thread::WaitPolicy::yield);
  for (const std::string word :
       {"poisson3d:9x12x11", "poisson3d27:8x9x10", "poisson2d:13x12", "anisotropic3d:8x9x10,1,1,9"})
    for (const int ranks : {1, 2, 3, 4, 8}) {
      CAPTURE(word, ranks);
      const auto stencil = spmv::GridStencil::of(spmv::Problem::parse(word));
      const spmv::GridPartition partition(stencil.grid, ranks);
      const auto levels = grid_levels(stencil, 216);
      const GridBox all = levels[1].points();
      const auto expected = reference(stencil, levels[0], levels[1]);
      std::vector<double> sums(expected.size());
      for (int rank = 0; rank < ranks; ++rank) {
        const GridBox own = partition.box(rank);
        const spmv::GridLayout layout(own, 2);
        std::vector<double> x(layout.element_count(), 1e6);  // around the own points: of no use
        std::vector<double> b(layout.element_count(), 1e6);
        GridArray<float> correction(own, 2);
        for_each_point(own, [&](GlobalIndex i, GlobalIndex j, GlobalIndex k) {
          x[layout.index(i, j, k)] = x_of(i, j, k) - 0.25;
          b[layout.index(i, j, k)] = b_of(i, j, k);
          correction.row(j, k)[i] = 0.25F;
        });
        // What a pass computes is used where only own points count: there it is the reference.
        GridArray<float> inner(all, 1);
        for_each_point(all, [&](GlobalIndex i, GlobalIndex j, GlobalIndex k) {
          inner.row(j, k)[i] = static_cast<float>(expected[place_in(all, i, j, k)]);
        });
        OwnRestriction restriction(stencil, levels[0], levels[1], own, team.thread_count());
        const GridBox& points = restriction.points();
        std::vector<double> share(static_cast<std::size_t>(points.point_count()), 1e6);
        team.run([&](const TeamThread& thread) {
          restriction.run(
              thread, {.layout = layout, .b = b.data(), .x = x.data(), .correction = correction},
              inner, share);
        });
        for_each_point(points, [&](GlobalIndex i, GlobalIndex j, GlobalIndex k) {
          sums[place_in(all, i, j, k)] += share[place_in(points, i, j, k)];
        });
      }
      double largest = 0;
      double difference = 0;
      for (std::size_t i = 0; i < sums.size(); ++i) {
        largest = std::max(largest, std::abs(expected[i]));
        difference = std::max(difference, std::abs(sums[i] - expected[i]));
      }
      CHECK(largest > 0);
      CHECK(difference < 1e-6 * largest);
    }
}

}  // namespace
}  // namespace weft::solver
