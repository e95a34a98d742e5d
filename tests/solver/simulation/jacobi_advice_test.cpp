#include "solver/simulation/jacobi_advice.h"

#include <cmath>
#include <cstddef>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"

namespace weft::solver {
namespace {

JacobiSimulationOptions base() {
  JacobiSimulationOptions options;
  options.machine = machine_by_name("hector");
  options.rank_count = 16;
  options.real_points = 2;
  options.tolerance = 1e-2;
  return options;
}

}  // namespace

TEST_CASE("advice is synchronous where the cores are equal, asynchronous where one is slow") {
  JacobiSimulationOptions options = base();
  options.machine.jitter = 0;
  options.machine.core_spread = 0;
  const JacobiAdvice equal = advise_jacobi(options, 2);
  CHECK(equal.best == equal.best_sync);
  CHECK(equal.async_pays_from == 0);
  CHECK(equal.seeds_won == 2);

  options.machine.slow_rank = 3;
  options.machine.slow_factor = 5;
  const JacobiAdvice slow = advise_jacobi(options, 2);
  CHECK(slow.best == slow.best_async);
  CHECK(slow.async_pays_from > 0);
  CHECK(slow.seeds_won == 2);
  CHECK(slow.scaling.front().rank_count == 8);
  CHECK(slow.scaling.back().rank_count == 16);
}

TEST_CASE("every setting is tried with every seed, and the best has the smallest mean") {
  const JacobiAdvice advice = advise_jacobi(base(), 3);
  const double best = advice.trials[advice.best].mean();
  for (const JacobiTrial& trial : advice.trials) {
    CHECK(trial.seconds.size() == 3);
    CHECK(trial.mean() >= best);
    CHECK(trial.spread() >= 0);
  }
  CHECK_FALSE(advice.trials[advice.best_async].is_sync());
  CHECK(advice.trials[advice.best_sync].is_sync());
  CHECK_THROWS_AS(advise_jacobi(base(), 0), comm_thread::InputError);
}

}  // namespace weft::solver
