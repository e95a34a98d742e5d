#include "solver/simulation/eigen_simulation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/recursive_doubling.h"
#include "comm_thread/engine/schedule.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/simulation/simulated_network.h"
#include "comm_thread/simulation/simulated_space.h"
#include "solver/simulation/event_queue.h"
#include "solver/simulation/krylov_simulation.h"
#include "solver/simulation/lockstep_ranks.h"
#include "spmv/modes/mode.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/partition.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

constexpr spmv::Mode all_modes[] = {spmv::Mode::vector, spmv::Mode::overlap, spmv::Mode::task};

/// A filter, sums, a pass and a small matrix: what a step of a search does.
SearchSteps some_steps() {
  SearchSteps steps;
  for (int space = 0; space < 2; ++space) {
    for (int step = 0; step < 3; ++step) {
      for (int k = 0; k < 8; ++k) steps.add_product(4, 12, 16);
      steps.add_pass(48, 400);
      steps.add_sum(2824);
    }
    steps.add_dense(40);
    steps.end_space();
  }
  steps.add_pass(80, 800);
  return steps;
}

/// Time of the last of some ranks after an all-reduce by the real schedules on a simulated network.
double seconds_of_schedules(const Machine& machine, int rank_count, std::size_t bytes) {
  using namespace comm_thread;
  MachineModel model(machine, rank_count, 1);
  SimulatedNetwork network(rank_count, model);
  struct Rank {
    Rank(SimulatedNetwork& its_network, int rank, std::size_t bytes)
        : clock(its_network, rank),
          space(its_network, rank),
          thread({.is_polled = true, .clock = &clock}),
          own(bytes),
          received(bytes) {
      Schedule::Builder builder(space, "all-reduce");
      add_recursive_doubling(builder, space, own, received, [] {});
      schedule = builder.build();
    }
    SimulatedClock clock;
    SimulatedSpace space;
    CommThread thread;
    std::vector<std::byte> own;
    std::vector<std::byte> received;
    std::unique_ptr<Schedule> schedule;
  };
  std::vector<std::unique_ptr<Rank>> ranks;
  for (int rank = 0; rank < rank_count; ++rank)
    ranks.push_back(std::make_unique<Rank>(network, rank, bytes));
  EventQueue events;
  network.on_due([&](int rank, double seconds) {
    events.push({seconds, static_cast<std::uint32_t>(rank), EventQueue::Kind::poll});
  });
  const auto poll = [&](Rank& rank) {
    while (rank.thread.poll()) continue;
  };
  std::vector<Pending> pending;
  for (const auto& rank : ranks) {
    pending.push_back(rank->thread.post(*rank->schedule));
    poll(*rank);
  }
  double seconds = 0;
  while (!events.is_empty()) {
    const EventQueue::Event event = events.next();
    events.pop();
    network.set_now(event.seconds);
    poll(*ranks[event.rank]);
    seconds = std::max(seconds, event.seconds);
  }
  for (const Pending& each : pending) CHECK(each.test());
  return seconds;
}

double seconds_in_lockstep(const Machine& machine, int rank_count, std::size_t bytes) {
  MachineModel model(machine, rank_count, 1);
  const HaloGraph graph(spmv::Problem::parse("poisson2d:40"), rank_count);
  LockstepRanks ranks(model, graph);
  ranks.all_reduce(bytes);
  return ranks.seconds();
}

}  // namespace

TEST_CASE("a graph of halos has what each rank needs of each other, entry by entry") {
  for (const char* const word :
       {"poisson3d:7x5x6", "holstein-hubbard:sites=4,up=2,down=2,phonons=3", "irregular:900"}) {
    const auto problem = spmv::Problem::parse(word);
    const tests::ReferenceMatrix matrix = tests::reference_matrix(problem);
    for (const int rank_count : {1, 2, 5, 300}) {
      const auto partition = spmv::RowPartition::by_rows(std::ssize(matrix), rank_count);
      std::map<std::pair<int, int>, std::map<std::int64_t, int>> needed;  // from, to: columns
      std::vector<int> interior(static_cast<std::size_t>(rank_count));
      for (std::int64_t row = 0; row < std::ssize(matrix); ++row) {
        const int to = partition.owner(row);
        bool is_interior = true;
        for (const auto& [column, value] : matrix[static_cast<std::size_t>(row)]) {
          const int from = partition.owner(column);
          if (from == to) continue;
          is_interior = false;
          needed[{from, to}][column] = 1;
        }
        interior[static_cast<std::size_t>(to)] += is_interior ? 1 : 0;
      }
      const HaloGraph graph(problem, rank_count);
      CHECK(graph.message_count() == std::ssize(needed));
      auto expected = needed.begin();
      for (int rank = 0; rank < rank_count; ++rank) {
        CHECK(graph.part(rank).rows == partition.size(rank));
        CHECK(graph.part(rank).interior_rows == interior[static_cast<std::size_t>(rank)]);
        for (const HaloGraph::Message& message : graph.sent_by(rank)) {
          CHECK(expected->first == std::pair<int, int>{rank, message.to});
          CHECK(message.count == std::ssize((expected++)->second));
        }
      }
      CHECK(graph.row_count() == std::ssize(matrix));
    }
  }
}

TEST_CASE("products in lockstep take as long as those of the channels of events, in all modes") {
  constexpr int points = 10;
  constexpr int product_count = 7;
  SearchSteps steps;
  for (int k = 0; k < product_count; ++k) steps.add_product(1, 3, 0);  // 24 bytes a point
  const HaloGraph graph(spmv::Problem::parse("poisson3d:10x10x20"), 2);
  for (const spmv::Mode mode : all_modes) {
    KrylovSimulationOptions events;
    events.machine = machine_by_name("odin-gigabit");
    events.machine.ranks_per_node = 1;
    events.rank_count = 2;
    events.points = points;
    events.real_points = 2;
    events.method = SimulatedKrylov::spmv;
    events.mode = mode;
    events.max_iterations = product_count;
    EigenSimulationOptions lockstep{
        .machine = events.machine, .mode = mode, .bytes_per_nonzero = 0, .seed = events.seed};
    lockstep.machine.seconds_per_flop = 0;
    const EigenSimulationResult result = simulate_eigen(steps, graph, lockstep);
    CHECK(result.seconds == Approx(simulate_krylov(events).seconds).epsilon(1e-12));
    CHECK(result.halo_messages == 2 * product_count);
  }
}

TEST_CASE("sums in lockstep take as long as the schedules of recursive doubling") {
  Machine machine = machine_by_name("hector");
  machine.ranks_per_node = 4;
  for (const int rank_count : {2, 3, 8, 13, 64}) {
    Machine free_links = machine;
    free_links.gap = free_links.gap_per_byte = 0;
    CHECK(seconds_in_lockstep(free_links, rank_count, 2824) ==
          Approx(seconds_of_schedules(free_links, rank_count, 2824)).epsilon(1e-12));
    const double full = seconds_of_schedules(machine, rank_count, 2824);
    CHECK(std::abs(seconds_in_lockstep(machine, rank_count, 2824) / full - 1) < 0.2);
  }
  CHECK(seconds_in_lockstep(machine, 1, 2824) == 0);
}

TEST_CASE("shares of a simulated search are those of its time, and its spaces follow each other") {
  const HaloGraph graph(spmv::Problem::parse("poisson3d:32"), 8);
  EigenSimulationOptions options{.machine = machine_by_name("odin")};
  options.machine.jitter = 0;
  const EigenSimulationResult task = simulate_eigen(some_steps(), graph, options);
  const auto& shares = task.shares;
  CHECK(shares.product + shares.halo_wait + shares.pass + shares.sum_wait + shares.dense <= 1);
  CHECK(shares.product + shares.halo_wait + shares.pass + shares.sum_wait + shares.dense > 0.9);
  CHECK(shares.dense > 0);
  CHECK(task.space_seconds.size() == 3);
  double spaces = 0;
  for (const double seconds : task.space_seconds) spaces += seconds;
  CHECK(spaces == Approx(task.seconds));
  CHECK(task.products == 4 * 48);
  CHECK(task.block_products == 48);
  CHECK(task.sums == 6);
  CHECK(task.sum_messages == 6 * 8 * 3);
  CHECK(simulate_eigen(some_steps(), graph, options).seconds == task.seconds);
  options.mode = spmv::Mode::vector;
  CHECK(simulate_eigen(some_steps(), graph, options).seconds > task.seconds);
}

TEST_CASE("ranks without rows wait for the others, and send no halo") {
  const HaloGraph graph(spmv::Problem::parse("poisson2d:20"), 512);
  CHECK(graph.busy_rank_count() == 400);
  CHECK(graph.most_rows() == 1);
  const auto result = simulate_eigen(some_steps(), graph, {.machine = machine_by_name("hector")});
  CHECK(result.sum_messages == 6 * 512 * 9);
  CHECK(result.halo_messages == 48 * (4 * 20 * 19));
}

TEST_CASE(
    "searches on more ranks than there are, of files and on impossible machines are refused") {
  const auto problem = spmv::Problem::parse("poisson2d:20");
  CHECK_THROWS_AS(HaloGraph(problem, 0), comm_thread::InputError);
  CHECK_THROWS_AS(HaloGraph(problem, (1 << 20) + 1), comm_thread::InputError);
  CHECK_THROWS_AS(HaloGraph(spmv::Problem::of_file("a.mtx"), 2), comm_thread::InputError);
  const HaloGraph graph(problem, 2);
  Machine machine;
  machine.slow_rank = 2;
  CHECK_THROWS_AS(simulate_eigen(some_steps(), graph, {.machine = machine}),
                  comm_thread::InputError);
  machine.slow_rank = -1;
  machine.seconds_per_flop = -1;
  CHECK_THROWS_AS(simulate_eigen(some_steps(), graph, {.machine = machine}),
                  comm_thread::InputError);
}

}  // namespace weft::solver
