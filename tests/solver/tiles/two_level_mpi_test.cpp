#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "comm_thread/termination/detector_kind.h"
#include "solver/sweep/async_iteration.h"
#include "solver/sweep/sync_iteration.h"
#include "solver/tiles/async_two_level.h"
#include "solver/tiles/linear_coarse_space.h"
#include "solver/tiles/schwarz_problem.h"
#include "solver/tiles/sync_two_level.h"
#include "solver/tiles/tile_partition.h"
#include "solver/tiles/tile_sweeper.h"
#include "spmv/problems/right_hand_side.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using comm_thread::TeamThread;

const SchwarzProblem problem{4, 4, 1, 0.3, spmv::RightHandSide::parse("x-random:3")};

/// Two levels on some ranks and threads.
template <class TwoLevel>
class System {
 public:
  System(const Communicator& communicator, int threads)
      : communicator_(communicator.collective_duplicate()),
        team_(threads, comm_thread::WaitPolicy::yield),
        comm_thread_({.thread_level = tests::session().thread_level()}),
        tiles_(team_, problem, TilePartition(problem.tiles_per_side, communicator.size()),
               communicator.rank(),
               {.order = std::is_same_v<TwoLevel, SyncTwoLevel> ? TileSweeper::Order::at_once
                                                                : TileSweeper::Order::quarters,
                .relaxation = TwoLevel::relaxation}),
        both_(communicator_, comm_thread_, tiles_) {}

  TileSweeper& tiles() { return tiles_; }
  TwoLevel& both() { return both_; }
  const comm_thread::ComputeTeam& team() const { return team_; }

  /// Collective.
  IterationReport iterate() {
    SyncIteration iteration(communicator_, comm_thread_, both_,
                            {.max_iterations = 60, .check_period = 1});
    return iteration.run(1);
  }
  IterationReport iterate_asynchronously(comm_thread::DetectorKind detector) {
    AsyncIteration iteration(communicator_, comm_thread_, both_,
                             {.contribution_period = 1, .detector = detector});
    return iteration.run(1);
  }

  /// x by global point.
  std::map<int, std::uint64_t> bits() const {
    const int m = problem.points_per_side;
    const int q = problem.tiles_per_side;
    std::map<int, std::uint64_t> bits;
    for (std::size_t slot = 0; slot < tiles_.tiles().size(); ++slot) {
      const int tile = tiles_.tiles()[slot];
      for (int y = 0; y < m; ++y)
        for (int x = 0; x < m; ++x)
          bits[(tile / q * m + y) * q * m + tile % q * m + x] =
              std::bit_cast<std::uint64_t>(tiles_.value(slot, x, y));
    }
    return bits;
  }

  double worst() { return communicator_.max(tiles_.worst_tile_residual()); }

 private:
  Communicator communicator_;
  comm_thread::ComputeTeam team_;
  comm_thread::CommThread comm_thread_;
  TileSweeper tiles_;
  TwoLevel both_;
};

}  // namespace

TEST_CASE("two synchronous levels have the same bits on any ranks and threads") {
  System<SyncTwoLevel> alone(Communicator::self(), 1);
  const IterationReport expected = alone.iterate();
  CHECK(expected.status == SolveStatus::converged);
  System<SyncTwoLevel> together(Communicator::collective_world(), tests::thread_count());
  const IterationReport found = together.iterate();
  CHECK(found.iterations == expected.iterations);
  CHECK(together.both().correction_count() == found.iterations + 1);
  const auto all = alone.bits();
  for (const auto& [point, value] : together.bits()) CHECK(all.at(point) == value);
}

TEST_CASE("two asynchronous levels come to the true residual with every detector") {
  using comm_thread::DetectorKind;
  for (const DetectorKind detector : {DetectorKind::flags, DetectorKind::residual,
                                      DetectorKind::all_reduce, DetectorKind::snapshot}) {
    CAPTURE(comm_thread::name(detector));
    System<AsyncTwoLevel> system(Communicator::collective_world(), tests::thread_count());
    const IterationReport report = system.iterate_asynchronously(detector);
    CHECK(report.status == SolveStatus::converged);
    CHECK(system.worst() < 1e-7);
    CHECK(system.both().correction_count() > 0);
  }
}

TEST_CASE("the sum from residuals is that from values, and its correction leaves none of it") {
  System<SyncTwoLevel> system(Communicator::self(), 1);
  TileSweeper& tiles = system.tiles();
  LinearCoarseSpace space(problem.tiles_per_side, problem.points_per_side);
  std::vector<double> shares(space.share_count());
  std::vector<double> from_residuals(space.node_count());
  std::vector<double> from_values(space.node_count());
  std::vector<double> c(space.node_count());
  const auto inner_difference = [&](std::span<const double> a, std::span<const double> b) {
    const int side = problem.tiles_per_side + 1;
    double largest = 0;
    for (int y = 1; y + 1 < side; ++y)
      for (int x = 1; x + 1 < side; ++x) {
        const auto node = static_cast<std::size_t>(y * side + x);
        largest = std::max(largest, std::abs(a[node] - (b.empty() ? 0 : b[node])));
      }
    return largest;
  };
  system.team().run([&](const TeamThread& thread) {
    tiles.advance(thread, 2);  // something that is not smooth
    tiles.restrict_residual(thread, space, shares);
    space.sum_shares(shares, from_residuals);
    tiles.restrict_source(thread, space, from_values);
    tiles.subtract_product(thread, space, from_values);
    CHECK(inner_difference(from_residuals, {}) > 0.1);
    CHECK(inner_difference(from_residuals, from_values) < 1e-12);
    space.solve(from_residuals, c);
    tiles.add(thread, space, c);
    tiles.restrict_residual(thread, space, shares);
    space.sum_shares(shares, from_residuals);
    CHECK(inner_difference(from_residuals, {}) < 1e-12);
  });
}

}  // namespace weft::solver
