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
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/sweepers/grid_sweeper.h"
#include "spmv/grid/box.h"
#include "spmv/grid/diffusion_problem.h"
#include "spmv/grid/layout.h"
#include "spmv/grid/partition.h"
#include "tests/support/grid_reference.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using comm_thread::TeamThread;
using spmv::DiffusionProblem;
using spmv::GridPartition;
using tests::ReferenceDiffusion;
using Options = GridSweeper::Options;

constexpr std::size_t large_cache = std::size_t{1} << 26;

/// The diffusion problem on the ranks and threads of this run, driven as simply as possible.
class System {
 public:
  System(const Communicator& world, const DiffusionProblem& problem, const Options& options)
      : communicator_(world.collective_duplicate()),
        team_(tests::thread_count(), comm_thread::WaitPolicy::yield),
        comm_thread_({.thread_level = tests::session().thread_level()}),
        sweeper_(communicator_, team_, problem, GridPartition(problem.grid, world.size()), options),
        halo_(halo_count()),
        exchange_(communicator_, sweeper_.neighbours(), halo_, 0),
        squares_(communicator_, comm_thread_, team_.thread_count(), 1) {
    communicator_.barrier();  // both ends of every pair exist
  }

  GridSweeper& sweeper() { return sweeper_; }

  /// One sweep from a fresh halo. Returns ‖b − A·u‖² of the values before it. Collective.
  double sweep(bool is_split) {
    return sum([&](const TeamThread& thread) {
      auto& squares = squares_.part(thread.index);
      pack(thread, false);
      if (is_split) sweeper_.sweep(thread, SweepPart::interior, &squares);
      exchange(thread);
      unpack(thread);
      sweeper_.sweep(thread, is_split ? SweepPart::boundary : SweepPart::all, &squares);
      finish_sweep(thread);
    });
  }

  /// The same, without squares. Collective.
  void sweep_only(bool is_split) {
    team_.run([&](const TeamThread& thread) {
      pack(thread, false);
      if (is_split) sweeper_.sweep(thread, SweepPart::interior, nullptr);
      exchange(thread);
      unpack(thread);
      sweeper_.sweep(thread, is_split ? SweepPart::boundary : SweepPart::all, nullptr);
      finish_sweep(thread);
    });
  }

  /// One sweep from whatever is in the halo. Collective.
  void sweep_with_old_halo() {
    team_.run([&](const TeamThread& thread) {
      sweeper_.sweep(thread, SweepPart::all, nullptr);
      finish_sweep(thread);
    });
  }

  /// `count` sweeps from one fresh halo. Collective.
  void advance(int count) {
    team_.run([&](const TeamThread& thread) {
      refresh(thread);
      sweeper_.advance(thread, count);
    });
  }

  /// ‖b − A·u‖². Collective.
  double residual_square() {
    return sum([&](const TeamThread& thread) {
      refresh(thread);
      sweeper_.add_residual(thread, squares_.part(thread.index));
    });
  }

  void record() {
    team_.run([&](const TeamThread& thread) { sweeper_.record(thread); });
  }

  /// ‖b − A·u‖² of what was recorded. Collective.
  double residual_square_of_record() {
    return sum([&](const TeamThread& thread) {
      pack(thread, true);
      exchange(thread);
      sweeper_.add_residual_of_record(thread, halo_, squares_.part(thread.index));
    });
  }

  /// How many own values have other bits than the serial loop's.
  std::int64_t wrong_count(const ReferenceDiffusion& reference) const {
    std::int64_t count = 0;
    for (const spmv::GridBox& point : tests::points(sweeper_.layout().own())) {
      const auto [x, y, z] = point.begin;
      count += sweeper_.values()[sweeper_.layout().index(x, y, z)] != reference.value(x, y, z);
    }
    return count;
  }

 private:
  std::size_t halo_count() const {
    std::int64_t count = 0;
    for (const auto& neighbour : sweeper_.neighbours()) count += neighbour.receive_count;
    return static_cast<std::size_t>(count);
  }

  template <class Work>
  double sum(const Work& work) {
    team_.run([&](const TeamThread& thread) {
      work(thread);
      squares_.collective_reduce(thread);
    });
    return squares_.result();
  }

  void refresh(const TeamThread& thread) {
    pack(thread, false);
    exchange(thread);
    unpack(thread);
  }

  void pack(const TeamThread& thread, bool is_record) {
    const auto neighbours = sweeper_.neighbours();
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      const auto out =
          exchange_.send_buffer().subspan(static_cast<std::size_t>(neighbours[i].send_begin),
                                          static_cast<std::size_t>(neighbours[i].send_count));
      if (is_record)
        sweeper_.pack_record(thread, i, out);
      else
        sweeper_.pack(thread, i, out);
    }
  }

  void exchange(const TeamThread& thread) {
    thread.barrier();
    if (thread.is_primary() && exchange_.has_neighbours()) exchange_.post(comm_thread_).wait();
    thread.barrier();
  }

  void unpack(const TeamThread& thread) {
    const auto neighbours = sweeper_.neighbours();
    for (std::size_t i = 0; i < neighbours.size(); ++i)
      sweeper_.unpack(
          thread, i,
          std::span(halo_).subspan(static_cast<std::size_t>(neighbours[i].receive_begin),
                                   static_cast<std::size_t>(neighbours[i].receive_count)));
    thread.barrier();
  }

  void finish_sweep(const TeamThread& thread) {
    thread.barrier();
    if (thread.is_primary()) sweeper_.finish_sweep();
    thread.barrier();
  }

  Communicator communicator_;
  comm_thread::ComputeTeam team_;
  comm_thread::CommThread comm_thread_;
  GridSweeper sweeper_;
  std::vector<double> halo_;
  comm_thread::HaloExchange exchange_;
  comm_thread::ReproducibleSum squares_;
};

/// What every rank should find: squares as the serial loop has them, summed up in any order.
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
    CHECK(std::abs(system.residual_square() - b_square) <= 1e-12 * b_square);
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
            system.sweep_only(is_split);
          else
            CHECK(system.sweep(is_split) == expected_square(reference, system.sweeper()));
          reference.sweep();
          CHECK(system.wrong_count(reference) == 0);
          CHECK(system.residual_square() == expected_square(reference, system.sweeper()));
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
          system.advance(sweeps);
          for (int sweep = 0; sweep < sweeps; ++sweep) reference.sweep();
          CHECK(system.wrong_count(reference) == 0);
        }
        CHECK(system.residual_square() == expected_square(reference, system.sweeper()));
        CHECK(system.sweep(true) == expected_square(reference, system.sweeper()));
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
    system.sweep_only(false);
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
        system.sweep_only(true);
      else
        system.sweep_with_old_halo();
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
      CHECK(system.sweep(sweep % 2 == 0) == expected_square(reference, system.sweeper()));
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
          system.sweep_only(i % 2 == 0);
          reference.sweep();
        }
      };
      for (const int count : {3, 1, 4}) {
        sweep(count);
        system.record();
        const double recorded = expected_square(reference, system.sweeper());
        CHECK(system.residual_square_of_record() == recorded);
        sweep(1);
        CHECK(system.residual_square_of_record() == recorded);
        sweep(2);
        system.advance(depth);
        for (int i = 0; i < depth; ++i) reference.sweep();
        CHECK(system.residual_square_of_record() == recorded);
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
