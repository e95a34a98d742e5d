// Problems of tests of TileSweeper, and their tiles on the ranks of a test.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "comm_thread/termination/detector_kind.h"
#include "solver/sweep/async_iteration.h"
#include "solver/sweep/sync_iteration.h"
#include "solver/tiles/box_solver_kind.h"
#include "solver/tiles/schwarz_problem.h"
#include "solver/tiles/tile_partition.h"
#include "solver/tiles/tile_sweeper.h"
#include "spmv/problems/right_hand_side.h"
#include "tests/solver/sweep/sweeper_driver.h"
#include "tests/solver/tiles/schwarz_reference.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::solver {

using comm_thread::Communicator;
using comm_thread::TeamThread;
using tests::SchwarzReference;
using Halo = tests::SweeperDriver::Halo;
using Order = TileSweeper::Order;

inline constexpr double classical = std::numeric_limits<double>::infinity();
inline constexpr int most_sweeps = 150;

inline SchwarzProblem problem_of(int q, int m, int overlap, double alpha,
                                 const std::string& b = "ones") {
  return {q, m, overlap, alpha, spmv::RightHandSide::parse(b)};
}

/// Of different numbers of tiles, points, overlaps and conditions, with room for four ranks.
inline std::vector<SchwarzProblem> problems() {
  return {problem_of(2, 4, 1, 0.2),
          problem_of(3, 3, 1, 0.1),
          problem_of(3, 4, 2, 0.3, "x-random:5"),
          problem_of(4, 2, 1, classical),
          problem_of(2, 5, 0, classical),
          problem_of(3, 1, 0, classical, "x-random:7"),
          problem_of(5, 3, 2, 0.05, "x-random:1")};
}

/// So large that TensorBoxSolver gains by solving for edges only.
inline std::vector<SchwarzProblem> large_problems() {
  return {problem_of(3, 30, 1, 0.05, "x-random:2"), problem_of(2, 31, 0, classical),
          problem_of(2, 60, 2, 0.02)};
}

inline std::vector<SchwarzProblem> all_problems() {
  std::vector<SchwarzProblem> all = problems();
  const std::vector<SchwarzProblem> large = large_problems();
  all.insert(all.end(), large.begin(), large.end());
  return all;
}

/// The tiles of a problem on some ranks and the threads of this run, swept synchronously.
class System {
 public:
  System(const Communicator& communicator, const SchwarzProblem& problem, double tolerance = 1e-7,
         int threads = tests::thread_count(), BoxSolverKind kind = BoxSolverKind::cholmod,
         Order order = Order::at_once)
      : communicator_(communicator.collective_duplicate()),
        team_(threads, comm_thread::WaitPolicy::yield),
        comm_thread_({.thread_level = tests::session().thread_level()}),
        sweeper_(team_, problem, TilePartition(problem.tiles_per_side, communicator.size()),
                 communicator.rank(),
                 {.tolerance = tolerance, .local_solver = kind, .order = order}),
        driver_(communicator_, comm_thread_, sweeper_) {}

  TileSweeper& sweeper() { return sweeper_; }
  tests::SweeperDriver& driver() { return driver_; }

  /// Collective.
  IterationReport iterate(spmv::Mode mode, std::int64_t most = most_sweeps) {
    SyncIteration iteration(communicator_, comm_thread_, sweeper_,
                            {.mode = mode, .max_iterations = most, .check_period = 1});
    return iteration.run(std::sqrt(driver_.residual_square()));
  }

  /// Iterates asynchronously. Collective.
  IterationReport iterate_asynchronously(const AsyncIteration::Options& options) {
    AsyncIteration iteration(communicator_, comm_thread_, sweeper_, options);
    return iteration.run(std::sqrt(driver_.residual_square()));
  }

  /// Iterates synchronously for a fixed time. Collective.
  IterationReport iterate_for(double seconds) {
    SyncIteration iteration(communicator_, comm_thread_, sweeper_,
                            {.check_period = 1, .fixed_seconds = seconds});
    return iteration.run(std::sqrt(driver_.residual_square()));
  }

  /// ‖b‖².
  double source_square() {
    double square = 0;
    for_each_point(
        [&](double, int x, int y) { square += std::pow(sweeper_.problem().source(x, y), 2); });
    return communicator_.sum(square);
  }

  std::int64_t unconverged_count() {
    std::int64_t count = 0;
    for (int thread = 0; thread < team_.thread_count(); ++thread)
      count += sweeper_.unconverged_count(thread);
    return communicator_.sum(count);
  }

  double largest_difference(const SchwarzReference& reference) {
    complete();
    double largest = 0;
    for_each_point([&](double value, int x, int y) {
      largest = std::max(largest, std::abs(value - reference.value(x, y)));
    });
    return largest;
  }

  double largest_difference(System& other) {
    complete();
    other.complete();
    double largest = 0;
    const int m = sweeper_.problem().points_per_side;
    for (std::size_t slot = 0; slot < sweeper_.tiles().size(); ++slot)
      for (int y = 0; y < m; ++y)
        for (int x = 0; x < m; ++x)
          largest = std::max(
              largest, std::abs(sweeper_.value(slot, x, y) - other.sweeper_.value(slot, x, y)));
    return largest;
  }

  double largest_value() {
    complete();
    double largest = 0;
    for_each_point([&](double value, int, int) { largest = std::max(largest, std::abs(value)); });
    return communicator_.max(largest);
  }

  /// Own values in the order of the tiles' numbers.
  std::vector<std::uint64_t> bits(std::span<const int> tiles) {
    complete();
    std::vector<std::uint64_t> bits;
    for (const int tile : tiles)
      for_each_point_of(tile, [&](double value, int, int) {
        bits.push_back(std::bit_cast<std::uint64_t>(value));
      });
    return bits;
  }

 private:
  void complete() {
    team_.run([&](const TeamThread& thread) { sweeper_.complete(thread); });
  }
  template <class Work>
  void for_each_point_of(int tile, const Work& work) {
    const int m = sweeper_.problem().points_per_side;
    const int q = sweeper_.problem().tiles_per_side;
    const auto slot = static_cast<std::size_t>(std::ranges::find(sweeper_.tiles(), tile) -
                                               sweeper_.tiles().begin());
    for (int y = 0; y < m; ++y)
      for (int x = 0; x < m; ++x)
        work(sweeper_.value(slot, x, y), tile % q * m + x, tile / q * m + y);
  }
  template <class Work>
  void for_each_point(const Work& work) {
    for (const int tile : sweeper_.tiles()) for_each_point_of(tile, work);
  }

  Communicator communicator_;
  comm_thread::ComputeTeam team_;
  comm_thread::CommThread comm_thread_;
  TileSweeper sweeper_;
  tests::SweeperDriver driver_;
};

}  // namespace weft::solver
