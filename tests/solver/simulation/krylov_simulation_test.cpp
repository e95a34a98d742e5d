#include "solver/simulation/krylov_simulation.h"

#include <cstdint>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"
#include "spmv/modes/mode.h"

namespace weft::solver {
namespace {

constexpr SimulatedKrylov methods[] = {SimulatedKrylov::spmv, SimulatedKrylov::cg,
                                       SimulatedKrylov::cg_one_reduction,
                                       SimulatedKrylov::cg_pipelined};

KrylovSimulationOptions small_krylov(SimulatedKrylov method) {
  KrylovSimulationOptions options;
  options.machine = machine_by_name("odin");
  options.rank_count = 12;
  options.real_points = 2;
  options.method = method;
  options.max_iterations = 60;
  return options;
}

}  // namespace

TEST_CASE("modes, machines and seeds change the times of simulated methods, never the values") {
  for (const SimulatedKrylov method : methods) {
    const KrylovSimulationResult task = simulate_krylov(small_krylov(method));
    CHECK(task.has_converged == (method != SimulatedKrylov::spmv));
    CHECK(task.value_hash != 0);
    for (const spmv::Mode mode : {spmv::Mode::vector, spmv::Mode::overlap}) {
      KrylovSimulationOptions options = small_krylov(method);
      options.mode = mode;
      options.machine = machine_by_name("gigabit");
      options.seed = 2;
      const KrylovSimulationResult result = simulate_krylov(options);
      CHECK(result.value_hash == task.value_hash);
      CHECK(result.iteration_count == task.iteration_count);
      CHECK(result.seconds != task.seconds);
    }
    CHECK(simulate_krylov(small_krylov(method)).seconds == task.seconds);
  }
}

TEST_CASE("simulated ranks converge as one rank with the whole grid does, to the last bit") {
  for (const SimulatedKrylov method : methods) {
    KrylovSimulationOptions options = small_krylov(method);
    options.rank_count = 8;
    const KrylovSimulationResult many = simulate_krylov(options);
    options.rank_count = 1;
    options.real_points = 4;
    const KrylovSimulationResult one = simulate_krylov(options);
    CHECK(many.relative_residual == one.relative_residual);
    CHECK(many.iteration_count == one.iteration_count);
    CHECK(one.halo_wait_fraction + one.sum_wait_fraction == 0);
  }
}

TEST_CASE("task mode hides what vector mode waits for, and one all-reduce costs less than two") {
  KrylovSimulationOptions options = small_krylov(SimulatedKrylov::spmv);
  options.machine.jitter = 0;
  options.points = 100;
  options.mode = spmv::Mode::vector;
  const KrylovSimulationResult vector = simulate_krylov(options);
  options.mode = spmv::Mode::task;
  const KrylovSimulationResult task = simulate_krylov(options);
  CHECK(vector.halo_wait_fraction > 0.01);
  CHECK(task.halo_wait_fraction < 0.2 * vector.halo_wait_fraction);
  CHECK(task.seconds < vector.seconds);

  options.points = 2;  // nothing but all-reduces
  options.method = SimulatedKrylov::cg;
  const double two = simulate_krylov(options).seconds;
  options.method = SimulatedKrylov::cg_one_reduction;
  CHECK(simulate_krylov(options).seconds < two);
}

TEST_CASE("methods, modes and numbers that do not exist are refused") {
  CHECK_THROWS_AS(simulated_krylov("gmres"), comm_thread::InputError);
  CHECK_THROWS_AS(simulated_mode("none"), comm_thread::InputError);
  KrylovSimulationOptions options = small_krylov(SimulatedKrylov::cg);
  options.max_iterations = 0;
  CHECK_THROWS_AS(simulate_krylov(options), comm_thread::InputError);
}

}  // namespace weft::solver
