#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "solver/amg/amg_preconditioner.h"
#include "solver/amg/coarsening/near_null_space.h"
#include "solver/methods/method_table.h"
#include "tests/solver/amg/crew_system.h"
#include "tests/solver/amg/preconditioned_solves.h"

namespace weft::solver::amg {
namespace {

NearNullSpace first_of(const NearNullSpace& space, std::size_t count) {
  const auto all = static_cast<std::size_t>(space.vector_count);
  NearNullSpace some{.block_size = space.block_size, .vector_count = static_cast<int>(count)};
  for (std::size_t i = 0; i < space.values.size(); ++i)
    if (i % all < count) some.values.push_back(space.values[i]);
  return some;
}

}  // namespace

TEST_CASE("new values of the matrix keep the aggregates, with the bits of a new set-up") {
  // Vectors of aggregates: sums of 2, 3 and 6 are made at once.
  for (const auto& [problem, vectors] :
       std::vector<std::pair<std::string, std::size_t>>{{"diffusion3d:12,lognormal:2", 1},
                                                        {"elasticity3d:9x4x4", 6},
                                                        {"elasticity3d:9x4x4", 4},
                                                        {"elasticity3d:9x4x4", 3},
                                                        {"elasticity3d:9x4x4", 2}}) {
    // Times a power of two, the matrix has the same prolongators, and the inverse is exact.
    const auto of_problem = [&name = problem, count = vectors](const CrewSystem& system) {
      return count == 1 ? NearNullSpace{} : first_of(modes_of(system, name), count);
    };
    for (const auto precision : {Settings::Precision::in_float, Settings::Precision::in_double}) {
      CAPTURE(problem, vectors, static_cast<int>(precision));
      CrewSystem alone(Communicator::self(), problem, 1);
      CrewSystem system(Communicator::collective_world(), problem);
      Settings settings{.direct_rows = 20, .precision = precision};
      settings.keeps_set_up = true;
      AmgPreconditioner preconditioner(system.op(), settings, of_problem(system));
      AmgPreconditioner not_kept(system.op(), {.direct_rows = 20}, of_problem(system));
      CHECK_FALSE(not_kept.collective_take_new_values());
      const auto r = some_vector(alone.count(), 3);
      const auto before = apply(system, preconditioner, system.own(r));
      system.change_values([](GlobalIndex, GlobalIndex, double value) { return 4 * value; });
      CHECK(preconditioner.collective_take_new_values());
      auto after = apply(system, preconditioner, system.own(r));
      for (double& value : after) value *= 4;
      CHECK(after == before);
      // Values in another ratio: symmetric, definite, and the same on any ranks.
      const auto change = [](GlobalIndex row, GlobalIndex column, double value) {
        return row == column ? 1.25 * value : value;
      };
      AmgPreconditioner reference(alone.op(), settings, of_problem(alone));
      alone.change_values([](GlobalIndex, GlobalIndex, double value) { return 4 * value; });
      alone.change_values(change);
      system.change_values(change);
      CHECK(preconditioner.collective_take_new_values());
      CHECK(reference.collective_take_new_values());
      preconditioner.begin_solve();
      CHECK(apply(system, preconditioner, system.own(r)) == system.own(apply(alone, reference, r)));
    }
  }
}

TEST_CASE("conjugate gradients go on with new values, with the bits of new ones") {
  CrewSystem system(Communicator::collective_world(), "diffusion3d:12,lognormal:2");
  Settings settings{.direct_rows = 20};
  settings.keeps_set_up = true;
  AmgPreconditioner preconditioner(system.op(), settings);
  const auto b = system.own(some_vector(1728, 3));
  const auto method = [&](const std::string& name) {
    return solver::find_krylov_method(name)->collective_make(
        system.op(), {.preconditioner = &preconditioner, .stop = {}, .on_iteration = {}});
  };
  for (const std::string name : {"cg", "fcg"}) {
    const auto kept = method(name);
    kept->solve(b);
    for (const double share : {1.25, 0.9}) {
      CAPTURE(name, share);
      system.change_values([&](GlobalIndex row, GlobalIndex column, double value) {
        return 3 * (row == column ? share * value : value);
      });
      CHECK(preconditioner.collective_take_new_values());
      CHECK(kept->collective_take_new_values());
      const SolveReport report = kept->solve(b);
      const auto fresh = method(name);
      CHECK(report.status == SolveStatus::converged);
      CHECK(fresh->solve(b).iterations == report.iterations);
      CHECK(std::ranges::equal(kept->solution(), fresh->solution()));
    }
  }
  CHECK_FALSE(method("cg-one-reduction")->collective_take_new_values());
}

}  // namespace weft::solver::amg
