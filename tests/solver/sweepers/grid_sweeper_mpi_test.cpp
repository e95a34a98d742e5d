#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/sweepers/grid_sweeper.h"
#include "spmv/grid/diffusion_problem.h"
#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/grid_partition.h"
#include "tests/solver/sweep/sweeper_driver.h"
#include "tests/support/grid_reference.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using spmv::DiffusionProblem;
using spmv::GridPartition;
using tests::ReferenceDiffusion;
using Options = GridSweeper::Options;
using Halo = tests::SweeperDriver::Halo;
using Parts = tests::SweeperDriver::Parts;

constexpr std::size_t large_cache = std::size_t{1} << 26;

/// The diffusion problem on the ranks and threads of this run, driven as simply as possible.
class System {
 public:
  System(const Communicator& world, const DiffusionProblem& problem, const Options& options)
      : communicator_(world.collective_duplicate()),
        team_(tests::thread_count(), comm_thread::WaitPolicy::yield),
        comm_thread_({.thread_level = tests::session().thread_level()}),
        sweeper_(communicator_, team_, problem, GridPartition(problem.grid, world.size()), options),
        driver_(communicator_, comm_thread_, sweeper_) {}

  GridSweeper& sweeper() { return sweeper_; }

  tests::SweeperDriver& driver() { return driver_; }

  /// Number of own values whose bits differ from those of the serial loop.
  std::int64_t wrong_count(const ReferenceDiffusion& reference) const {
    std::int64_t count = 0;
    for (const spmv::GridBox& point : tests::points(sweeper_.layout().own())) {
      const auto [x, y, z] = point.begin;
      count += sweeper_.values()[sweeper_.layout().index(x, y, z)] != reference.value(x, y, z);
    }
    return count;
  }

 private:
  Communicator communicator_;
  comm_thread::ComputeTeam team_;
  comm_thread::CommThread comm_thread_;
  GridSweeper sweeper_;
  tests::SweeperDriver driver_;
};

/// Expected result of every rank: squares as the serial loop has them, summed up in any order.
double expected_square(const ReferenceDiffusion& reference, const GridSweeper& sweeper) {
  const double norm = sweeper.source_norm();
  return tests::binned_sum(reference.residual_squares(), norm * norm);
}

std::vector<DiffusionProblem> problems() { return {{{8, 9, 10}}, {{7, 33, 6}}, {{19, 8, 8}, 1}}; }

TEST_CASE("the start values and the norm of b are those of the problem") {
  const auto world = Communicator::collective_world();
  for (const DiffusionProblem& problem : problems()) {
    System system(world, problem, {});
    const ReferenceDiffusion reference(problem);
    CHECK(system.wrong_count(reference) == 0);
    const double b_square =
        problem.source_square({{0, 0, 0}, {problem.grid.x, problem.grid.y, problem.grid.z}});
    CHECK(system.sweeper().source_norm() == std::sqrt(b_square));
    // At the start the residual is b.
    CHECK(std::abs(system.driver().residual_square() - b_square) <= 1e-12 * b_square);
  }
}

TEST_CASE("sweeps give the bits of the serial loop, in one part or two") {
  const auto world = Communicator::collective_world();
  for (const DiffusionProblem& problem : problems())
    for (const int depth : {1, 2, 3})
      for (const bool is_split : {false, true}) {
        CAPTURE(problem.grid.x, depth, is_split);
        System system(world, problem, {.halo_depth = depth});
        ReferenceDiffusion reference(problem);
        for (int sweep = 0; sweep < 7; ++sweep) {
          if (sweep % 3 == 2)
            system.driver().sweep_only(Halo::fresh, is_split ? Parts::two : Parts::one);
          else
            CHECK(system.driver().sweep(Halo::fresh, is_split ? Parts::two : Parts::one) ==
                  expected_square(reference, system.sweeper()));
          reference.sweep();
          CHECK(system.wrong_count(reference) == 0);
          CHECK(system.driver().residual_square() == expected_square(reference, system.sweeper()));
        }
      }
}

TEST_CASE("several sweeps from one halo give the bits of the serial loop") {
  const auto world = Communicator::collective_world();
  for (const DiffusionProblem& problem : problems())
    for (const int depth : {1, 2, 3})
      for (const bool has_time_blocking : {false, true}) {
        CAPTURE(problem.grid.x, depth, has_time_blocking);
        System system(world, problem,
                      {.halo_depth = depth,
                       .has_time_blocking = has_time_blocking,
                       .cache_bytes = large_cache});
        ReferenceDiffusion reference(problem);
        for (const int count : {1, 5, 2, 3, 1, 8}) {
          const int sweeps = std::min(count, system.sweeper().sweeps_per_exchange());
          system.driver().advance(sweeps);
          for (int sweep = 0; sweep < sweeps; ++sweep) reference.sweep();
          CHECK(system.wrong_count(reference) == 0);
        }
        CHECK(system.driver().residual_square() == expected_square(reference, system.sweeper()));
        CHECK(system.driver().sweep(Halo::fresh, Parts::two) ==
              expected_square(reference, system.sweeper()));
        reference.sweep();
        CHECK(system.wrong_count(reference) == 0);
      }
}

TEST_CASE("sweeps without an exchange take the halo that came last") {
  const auto world = Communicator::collective_world();
  for (const DiffusionProblem& problem : problems()) {
    CAPTURE(problem.grid.x);
    System system(world, problem, {});
    ReferenceDiffusion reference(problem);
    system.driver().sweep_only();
    reference.sweep();
    const spmv::GridLayout& layout = system.sweeper().layout();
    std::vector<double> current(layout.element_count());
    for (const spmv::GridBox& point : tests::points(layout.with_ghosts())) {
      const auto [x, y, z] = point.begin;
      current[layout.index(x, y, z)] = reference.value(x, y, z);
    }
    std::vector<double> next = current;
    for (int sweep = 0; sweep < 4; ++sweep) {
      if (sweep == 0)
        system.driver().sweep_only(Halo::fresh, Parts::two);
      else
        system.driver().sweep_only(Halo::old);
      tests::sweep_grid(layout, current, next, layout.own());
      std::swap(current, next);
      std::int64_t wrong_count = 0;
      for (const spmv::GridBox& point : tests::points(layout.own())) {
        const std::size_t place = layout.index(point.begin[0], point.begin[1], point.begin[2]);
        wrong_count += system.sweeper().values()[place] != current[place];
      }
      CHECK(wrong_count == 0);
    }
  }
}

TEST_CASE("boxes one point thick are swept") {
  const auto world = Communicator::collective_world();
  for (const DiffusionProblem& problem :
       {DiffusionProblem{{1, 1, world.size()}}, DiffusionProblem{{3, world.size(), 1}},
        DiffusionProblem{{world.size(), 2, 1}}}) {
    System system(world, problem, {});
    ReferenceDiffusion reference(problem);
    for (int sweep = 0; sweep < 4; ++sweep) {
      CAPTURE(problem.grid.x, problem.grid.z, sweep);
      CHECK(system.driver().sweep(Halo::fresh, sweep % 2 == 0 ? Parts::two : Parts::one) ==
            expected_square(reference, system.sweeper()));
      reference.sweep();
      CHECK(system.wrong_count(reference) == 0);
    }
  }
}

TEST_CASE("the residual of a record is that of the state recorded, while sweeps go on") {
  const auto world = Communicator::collective_world();
  for (const DiffusionProblem& problem : problems())
    for (const int depth : {1, 2}) {
      CAPTURE(problem.grid.x, depth);
      System system(world, problem, {.halo_depth = depth, .cache_bytes = large_cache});
      ReferenceDiffusion reference(problem);
      const auto sweep = [&](int count) {
        for (int i = 0; i < count; ++i) {
          system.driver().sweep_only(Halo::fresh, i % 2 == 0 ? Parts::two : Parts::one);
          reference.sweep();
        }
      };
      for (const int count : {3, 1, 4}) {
        sweep(count);
        system.driver().record();
        const double recorded = expected_square(reference, system.sweeper());
        CHECK(system.driver().residual_square_of_record() == recorded);
        sweep(1);
        CHECK(system.driver().residual_square_of_record() == recorded);
        sweep(2);
        system.driver().advance(depth);
        for (int i = 0; i < depth; ++i) reference.sweep();
        CHECK(system.driver().residual_square_of_record() == recorded);
        CHECK(system.wrong_count(reference) == 0);
      }
    }
}

TEST_CASE("the ranges of the neighbours tile the buffers, ranks ascend") {
  const auto world = Communicator::collective_world();
  for (const int depth : {1, 3}) {
    System system(world, {{9, 9, 9}}, {.halo_depth = depth});
    std::int64_t sent = 0, received = 0;
    int last = -1;
    for (const auto& neighbour : system.sweeper().neighbours()) {
      CHECK(neighbour.rank > last);
      CHECK(neighbour.rank != world.rank());
      CHECK(neighbour.send_begin == sent);
      CHECK(neighbour.receive_begin == received);
      last = neighbour.rank;
      sent += neighbour.send_count;
      received += neighbour.receive_count;
    }
    CHECK((sent > 0) == (world.size() > 1));
    CHECK(world.sum(sent) == world.sum(received));
    CHECK((world.size() == 1 || system.sweeper().sweeps_per_exchange() == depth));
  }
}

TEST_CASE("a halo deeper than some rank's box is refused on every rank") {
  const auto world = Communicator::collective_world();
  if (world.size() == 1) return;
  // Of 2·n − 1 planes one rank has one point and the others two.
  const DiffusionProblem problem{{1, 1, 2 * world.size() - 1}};
  CHECK_THROWS_AS(System(world, problem, {.halo_depth = 2}), comm_thread::InputError);
  CHECK_THROWS_WITH(System(world, problem, {.halo_depth = 2}),
                    "halo depth: found 2; expected at most 1, the points of a rank in direction z");
  System system(world, problem, {});
  CHECK(system.wrong_count(ReferenceDiffusion(problem)) == 0);
}

TEST_CASE("the way of sweeping is told with its reason") {
  const auto world = Communicator::collective_world();
  const bool is_alone = world.size() == 1;
  const auto method = [&](const Options& options, spmv::GridSize grid) {
    return System(world, {grid}, options).sweeper().sweep_method();
  };
  const spmv::GridSize grid{8, 64, 8};
  CHECK(method({.halo_depth = 2, .has_time_blocking = false, .cache_bytes = large_cache}, grid) ==
        "single sweeps, as asked for");
  const std::string with_one = method({.cache_bytes = large_cache}, grid);
  const std::string with_two = method({.halo_depth = 2, .cache_bytes = large_cache}, grid);
  CHECK((with_one.find("time blocks of ") == 0) == is_alone);
  CHECK(with_two.find("time blocks of ") == 0);
  CHECK((with_two.find("a halo of 2 points lasting for 2 sweeps") != std::string::npos) !=
        is_alone);
  CHECK(method({.halo_depth = 2, .cache_bytes = large_cache}, {8, 3, 64}) ==
        "single sweeps, because the box has too few rows, or too long ones, for time blocks");
}

}  // namespace
}  // namespace weft::solver
