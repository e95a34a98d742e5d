#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/multigrid/additive_cycle.h"
#include "solver/multigrid/level_plan.h"
#include "spmv/grid/partition.h"
#include "spmv/problems/problem.h"
#include "tests/solver/multigrid/reference_cycle.h"
#include "tests/support/mpi_main.h"
#include "tests/support/shared_results.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

using comm_thread::CommThread;
using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;
using spmv::Mode;

using Values = std::vector<double>;

/// Neither smooth nor symmetric, between -1 and 1.
double value_of(std::int64_t row) { return std::sin(1.0 + 37.0 * static_cast<double>(row % 1013)); }

Values right_hand_side(const spmv::GridStencil& stencil) {
  Values r(static_cast<std::size_t>(stencil.row_count()));
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = value_of(static_cast<std::int64_t>(i));
  return r;
}

/// One additive cycle and what surrounds it.
struct System {
  System(Communicator ranks, int threads, const std::string& word, int steps, Mode mode)
      : communicator(std::move(ranks)),
        team(threads, comm_thread::WaitPolicy::yield),
        comm_thread({.thread_level = tests::session().thread_level()}),
        stencil(spmv::GridStencil::of(spmv::Problem::parse(word))),
        partition(stencil.grid, communicator.size()),
        cycle(communicator, comm_thread, team,
              plan_constant<float>(stencil, partition, CycleOptions{}.least_points).levels,
              {.steps = steps, .mode = mode}, timer) {}

  template <class Visit>
  void for_each_own_point(const Visit& visit) const {
    const GridBox own = partition.box(communicator.rank());
    for (GlobalIndex z = own.begin[2]; z < own.end[2]; ++z)
      for (GlobalIndex y = own.begin[1]; y < own.end[1]; ++y)
        for (GlobalIndex x = own.begin[0]; x < own.end[0]; ++x)
          visit(x, y, z, static_cast<std::size_t>(x + stencil.grid.x * (y + stencil.grid.y * z)));
  }

  /// z for the right-hand side `r`; all values on every rank.
  Values collective_apply(const Values& r) {
    GridArray<float>& f = cycle.right_hand_side();
    const double scale = cycle.finest().scale;
    for_each_own_point([&](GlobalIndex x, GlobalIndex y, GlobalIndex z, std::size_t i) {
      f.row(y, z)[x] = static_cast<float>(r[i] / scale);
    });
    GridArray<float> z_values(partition.box(communicator.rank()), 1);
    team.run([&](const TeamThread& thread) {
      cycle.collective_descend(thread, {.array = &f}, &cycle.right_hand_side_halo());
      cycle.collective_ascend(thread, {.array = &z_values});
    });
    std::vector<std::int64_t> bits(r.size());
    for_each_own_point([&](GlobalIndex x, GlobalIndex y, GlobalIndex z, std::size_t i) {
      bits[i] = std::bit_cast<std::int64_t>(static_cast<double>(z_values.row(y, z)[x]));
    });
    communicator.sum(bits);  // each is one rank's
    Values whole(bits.size());
    std::ranges::transform(bits, whole.begin(),
                           [](std::int64_t value) { return std::bit_cast<double>(value); });
    return whole;
  }

  Communicator communicator;
  ComputeTeam team;
  CommThread comm_thread;
  spmv::GridStencil stencil;
  spmv::GridPartition partition;
  perfmodel::PhaseTimer timer;
  AdditiveCycle<float> cycle;
};

const std::vector<std::string> problems{
    "poisson3d:20x17x33",  "poisson3d:32",     "anisotropic3d:19x24x21,1,1,40",
    "poisson2d:75x46",     "poisson3d:41x5x9", "poisson3d27:20x17x33",
    "poisson3d:5x300x2",   "poisson3d:5",      "anisotropic3d:16,90,90,1",
    "poisson3d:30x25x121", "poisson3d:3x4x2"};

TEST_CASE("an additive cycle is the reference's V-cycle, up to rounding") {
  constexpr std::size_t most_steps = 3;
  const auto all_expected =
      tests::collective_results(problems.size() * most_steps, [](std::size_t i) {
        const auto stencil = spmv::GridStencil::of(spmv::Problem::parse(problems[i / most_steps]));
        return tests::apply_reference_cycle(grid_levels(stencil, coarsest_points),
                                            static_cast<int>(i % most_steps) + 1,
                                            right_hand_side(stencil));
      });
  std::size_t next = 0;
  for (const std::string& word : problems)
    for (const int steps : {1, 2, 3}) {
      CAPTURE(word, steps);
      const Values& expected = all_expected[next++];
      System system(Communicator::collective_world(), tests::thread_count(), word, steps,
                    Mode::task);
      const Values z = system.collective_apply(right_hand_side(system.stencil));
      double largest = 0;
      double difference = 0;
      for (std::size_t i = 0; i < z.size(); ++i) {
        largest = std::max(largest, std::abs(expected[i]));
        difference = std::max(difference, std::abs(z[i] - expected[i]));
      }
      CHECK(largest > 0);
      CHECK(difference < 1e-5 * largest);
    }
}

TEST_CASE("an additive cycle has the same bits on any ranks and in any mode") {
  const auto all_expected = tests::collective_results(problems.size(), [](std::size_t i) {
    System alone(Communicator::self(), 1, problems[i], 2, Mode::vector);
    return alone.collective_apply(right_hand_side(alone.stencil));
  });
  std::size_t next = 0;
  for (const std::string& word : problems) {
    const Values& expected = all_expected[next++];
    for (const Mode mode : {Mode::vector, Mode::overlap, Mode::overlap_test, Mode::task}) {
      CAPTURE(word, name(mode));
      System system(Communicator::collective_world(), tests::thread_count(), word, 2, mode);
      const Values r = right_hand_side(system.stencil);
      CHECK(system.collective_apply(r) == expected);
      CHECK(system.collective_apply(r) == expected);
    }
  }
}

TEST_CASE("an additive cycle is symmetric") {
  System system(Communicator::collective_world(), tests::thread_count(), "poisson3d:23x18x20", 2,
                Mode::task);
  const Values r = right_hand_side(system.stencil);
  Values s = r;
  for (double& value : s) value = value * value - 0.3;
  const Values mr = system.collective_apply(r);
  const Values ms = system.collective_apply(s);
  double r_ms = 0;
  double s_mr = 0;
  double size = 0;
  for (std::size_t i = 0; i < r.size(); ++i) {
    r_ms += r[i] * ms[i];
    s_mr += s[i] * mr[i];
    size += std::abs(r[i] * ms[i]);
  }
  CHECK(std::abs(r_ms - s_mr) < 1e-5 * size);
}

}  // namespace
}  // namespace weft::solver
