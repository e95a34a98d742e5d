#include <algorithm>
#include <cstdint>
#include <optional>

#include <catch2/catch.hpp>

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/rank_count.h"
#include "solver/amg/coarsening/row_values.h"
#include "tests/solver/amg/crew_system.h"

namespace weft::solver::amg {
namespace {

using comm_thread::Communicator;
using spmv::GlobalIndex;

/// Asks about a coarse level of a matrix with 1000 rows.
struct Asked {
  std::int64_t ranks_of(Gathering& gathering, GlobalIndex coarse_rows, std::int64_t of_node = 1) {
    return collective_rank_count(gathering, crew, level, coarse_rows,
                                 {.fine = of_node, .coarse = of_node}, values);
  }

  tests::CrewSystem system{Communicator::collective_world(), "poisson3d:10"};
  comm_thread::Crew crew{system.op().crew()};
  LevelMatrix level{.matrix = system.op().matrix().matrix(),
                    .plan = system.op().halo_plan(),
                    .thread_rows = {system.op().matrix().thread_rows().begin(),
                                    system.op().matrix().thread_rows().end()}};
  RowValues<GlobalIndex> values{crew, level.plan, level.thread_rows, 7};
};

TEST_CASE("a level moves to one rank where exchanges take long enough for its rows") {
  constexpr std::int64_t ranks = 2;
  double before = 0;
  for (const GlobalIndex coarse : {500, 3000, 12000}) {
    const LevelRows rows{.fine = 12 * coarse, .coarse = coarse};
    const double on_one = modelled_seconds_on_one(rows, ranks);
    CHECK(on_one > modelled_seconds_on_ranks(rows, ranks, 0));
    double latency = 1e-7;
    while (modelled_seconds_on_ranks(rows, ranks, latency) < on_one) latency *= 1.1;
    CHECK(latency > before);
    before = latency;
  }
  // Measured: 64 000 rows, 6000 on the next level, took as long either way at 1.1 ms.
  CHECK(modelled_seconds_on_one({64'000, 6035}, ranks) ==
        Approx(modelled_seconds_on_ranks({64'000, 6035}, ranks, 1.1e-3)).epsilon(0.1));
}

TEST_CASE("a given number of rows says how many ranks have a level") {
  Asked asked;
  const std::int64_t ranks = asked.crew.communicator().size();
  Gathering gathering = gathering_of(100);
  CHECK(asked.ranks_of(gathering, 99) == 1);
  CHECK(asked.ranks_of(gathering, 200) == std::min<std::int64_t>(ranks, 2));
  CHECK(asked.ranks_of(gathering, 50, 4) == std::min<std::int64_t>(ranks, 2));
  CHECK(asked.ranks_of(gathering, 1000) == ranks);
  CHECK_FALSE(gathering.latency_seconds);
}

TEST_CASE("the latency is measured for a level that may be on several ranks") {
  Asked asked;
  const Communicator& communicator = asked.crew.communicator();
  const std::int64_t ranks = communicator.size();
  Gathering gathering = gathering_of(0);
  CHECK(asked.ranks_of(gathering, 999) == 1);
  CHECK(asked.ranks_of(gathering, 200, 5) == 1);
  CHECK_FALSE(gathering.latency_seconds);
  // A finer level of too many rows to move.
  CHECK(asked.ranks_of(gathering, 200, 200) == ranks);
  CHECK_FALSE(gathering.latency_seconds);

  const std::int64_t count = asked.ranks_of(gathering, 400, 20);
  CHECK((count == 1 || count == ranks));
  CHECK(gathering.latency_seconds.has_value() == (ranks > 1));
  const double latency = gathering.latency_seconds.value_or(0);
  CHECK(communicator.min(latency) == communicator.max(latency));
  CHECK(communicator.sum(count) == ranks * count);
  CHECK(std::ranges::all_of(asked.values.all(), [](GlobalIndex value) { return value == 7; }));
}

}  // namespace
}  // namespace weft::solver::amg
