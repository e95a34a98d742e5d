#include "solver/multigrid/sweepers/coarse_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
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

constexpr int steps = 3;

double f_of(GlobalIndex x, GlobalIndex y, GlobalIndex z) {
  return std::sin(static_cast<double>(3 * x + 5 * y + 7 * z));
}

/// The parts of all ranks, whose shares of the right-hand side of grid 1 add up to f.
struct Parts {
  Parts(const std::string& word, int ranks, int threads)
      : team(threads, comm_thread::WaitPolicy::yield),
        stencil(spmv::GridStencil::of(spmv::Problem::parse(word))),
        partition(stencil.grid, ranks),
        levels(grid_levels(stencil, 100)),
        gathered(first_gathered(levels, partition, steps, steps)) {
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<int> neighbours;
      for (const auto& neighbour : partition.neighbours(rank, steps, true))
        neighbours.push_back(neighbour.rank);
      of_rank.push_back(std::make_unique<CoarseParts>(levels, partition, rank, neighbours, steps,
                                                      steps, gathered, team));
      ends.push_back(neighbours);
    }
    // Every share is of points of several ranks; large parts of it cancel.
    for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
      const GridBox& box = of_rank[rank]->boxes().shares[1];
      for_each_point(box, [&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
        double sum = 0;
        int count = 0;
        const auto count_in = [&](std::size_t other) {
          const GridBox& its = of_rank[other]->boxes().shares[1];
          if (intersection(its, {{x, y, z}, {x + 1, y + 1, z + 1}}).is_empty()) return;
          sum += static_cast<double>(other);
          ++count;
        };
        count_in(rank);
        for (const int other : ends[rank]) count_in(static_cast<std::size_t>(other));
        of_rank[rank]->first_share()[place_in(box, x, y, z)] =
            f_of(x, y, z) / count + 1000 * (static_cast<double>(rank) - sum / count);
      });
    }
    for (auto& parts : of_rank)
      team.run([&](const TeamThread& thread) { parts->restrict_shares(thread); });
  }

  std::vector<double> last_shares() const {
    const GridBox all = levels[gathered].points();
    std::vector<double> sums(static_cast<std::size_t>(all.point_count()));
    for (const auto& parts : of_rank) {
      const GridBox& box = parts->boxes().shares[gathered];
      for_each_point(box, [&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
        sums[place_in(all, x, y, z)] += parts->last_share()[place_in(box, x, y, z)];
      });
    }
    return sums;
  }

  /// The solution on grid 1, from a solution on the gathered grid.
  void solve() {
    std::vector<std::vector<std::vector<double>>> messages(of_rank.size());
    for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
      for (std::size_t n = 0; n < ends[rank].size(); ++n) {
        const auto other = static_cast<std::size_t>(ends[rank][n]);
        const auto me = static_cast<std::size_t>(
            std::ranges::find(ends[other], static_cast<int>(rank)) - ends[other].begin());
        messages[rank].emplace_back(of_rank[other]->sent_count(me));
        CHECK(of_rank[other]->sent_count(me) == of_rank[rank]->received_count(n));
        team.run([&](const TeamThread& thread) {
          of_rank[other]->pack(thread, me, messages[rank].back());
        });
      }
      for (std::size_t n = 0; n < ends[rank].size(); ++n)
        of_rank[rank]->set_shares(n, messages[rank][n]);
      for_each_point(of_rank[rank]->boxes().corrected[gathered], [&](GlobalIndex x, GlobalIndex y,
                                                                     GlobalIndex z) {
        of_rank[rank]->last_solution().row(y, z)[x] = static_cast<float>(f_of(y, z, x));
      });
      std::vector<PassMemory<float>> memories(static_cast<std::size_t>(team.thread_count()));
      team.run([&](const TeamThread& thread) {
        of_rank[rank]->solve(thread, memories[static_cast<std::size_t>(thread.index)]);
      });
    }
  }

  comm_thread::ComputeTeam team;
  spmv::GridStencil stencil;
  spmv::GridPartition partition;
  std::vector<GridLevel> levels;
  std::size_t gathered;
  std::vector<std::unique_ptr<CoarseParts>> of_rank;
  std::vector<std::vector<int>> ends;  // neighbours of each rank
};

/// The restriction of f by definition, from grid 1 to `to`.
std::vector<double> restricted(const std::vector<GridLevel>& levels, std::size_t to) {
  std::vector<double> fine;
  for_each_point(levels[1].points(), [&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
    fine.push_back(f_of(x, y, z));
  });
  for (std::size_t i = 1; i < to; ++i) {
    const GridBox points = levels[i].points();
    const auto weight = [&](std::size_t d, GlobalIndex at, GlobalIndex coarse) {
      if (!levels[i].is_coarsened[d]) return at == coarse ? 1.0 : 0.0;
      const GlobalIndex place = at - 2 * coarse;
      if (place < 0 || place > 2) return 0.0;
      return levels[i].directions[d].restriction(coarse)[static_cast<std::size_t>(place)];
    };
    std::vector<double> coarse;
    for_each_point(levels[i + 1].points(), [&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
      double sum = 0;
      const auto around = [&](std::size_t d, GlobalIndex at) {
        return levels[i].is_coarsened[d] ? 2 * at : at;
      };
      const GridBox near{{around(0, x), around(1, y), around(2, z)},
                         {around(0, x) + 3, around(1, y) + 3, around(2, z) + 3}};
      for_each_point(intersection(near, points), [&](GlobalIndex a, GlobalIndex b, GlobalIndex c) {
        sum +=
            weight(0, a, x) * weight(1, b, y) * weight(2, c, z) * fine[place_in(points, a, b, c)];
      });
      coarse.push_back(sum / levels[i + 1].scale);
    });
    fine = coarse;
  }
  return fine;
}

const std::vector<std::string> words{"poisson3d:48x53x40", "poisson2d:130x64",
                                     "anisotropic3d:24x20x64,1,1,9"};

TEST_CASE("shares that ranks restrict by themselves add up to the restricted right-hand side") {
  for (const std::string& word : words)
    for (const int ranks : {2, 4, 8}) {
      CAPTURE(word, ranks);
      const Parts parts(word, ranks, 2);
      const std::vector<double> expected = restricted(parts.levels, parts.gathered);
      const std::vector<double> sums = parts.last_shares();
      double difference = 0;
      for (std::size_t i = 0; i < sums.size(); ++i)
        difference = std::max(difference, std::abs(sums[i] - expected[i]));
      CHECK(difference < 1e-8);
    }
}

TEST_CASE("ranks find the same solution on coarser grids where several need it") {
  std::size_t most = 0;
  for (const std::string& word : words)
    for (const int ranks : {2, 4, 8}) {
      CAPTURE(word, ranks);
      Parts parts(word, ranks, 2);
      most = std::max(most, parts.gathered);
      parts.solve();
      const GridBox all = parts.levels[1].points();
      std::vector<float> known(static_cast<std::size_t>(all.point_count()), NAN);
      double difference = 0;
      double largest = 0;
      for (const auto& of_rank : parts.of_rank)
        for_each_point(
            of_rank->boxes().corrected[1], [&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
              float& before = known[place_in(all, x, y, z)];
              const float now = of_rank->first_solution().row(y, z)[x];
              if (std::isnan(before)) before = now;
              difference = std::max(
                  difference, std::abs(static_cast<double>(now) - static_cast<double>(before)));
              largest = std::max(largest, std::abs(static_cast<double>(now)));
            });
      CHECK(largest > 0);
      CHECK(difference < 1e-4 * largest);
    }
  CHECK(most >= 2);  // somewhere a grid is smoothed by all
}

TEST_CASE("what a rank keeps of coarser grids does not grow with the number of ranks") {
  const auto bytes_of = [](const std::string& word, int ranks) {
    const Parts parts(word, ranks, 1);
    std::size_t most = 0;
    for (const auto& of_rank : parts.of_rank) most = std::max(most, of_rank->byte_count());
    return most;
  };
  const std::size_t few = bytes_of("poisson3d:72", 27);
  CHECK(bytes_of("poisson3d:96", 64) <= few + few / 10);
}

}  // namespace
}  // namespace weft::solver
