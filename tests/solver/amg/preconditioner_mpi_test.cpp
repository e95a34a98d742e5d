#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"
#include "solver/amg/amg_preconditioner.h"
#include "solver/amg/coarsening/near_null_space.h"
#include "solver/methods/method_table.h"
#include "spmv/modes/mode.h"
#include "spmv/problems/elasticity_generator.h"
#include "tests/solver/amg/crew_system.h"
#include "tests/solver/amg/preconditioned_solves.h"

namespace weft::solver::amg {

TEST_CASE("M is symmetric and positive") {
  const auto world = Communicator::collective_world();
  int turn = 0;
  for (const std::string problem :
       {"poisson2d:23x19", "anisotropic3d:90x11x1,1,0.001,0.001", "poisson3d:9",
        "anisotropic3d:10,1,1,0.001", "diffusion3d:9,lognormal:3", "diffusion3d:9,jumps:10000"})
    for (const auto precision : {Settings::Precision::in_float, Settings::Precision::in_double})
      for (int degree = 0; degree <= 4; ++degree) {  // 0: a W-cycle
        if (turn++ % world.size() != world.rank()) continue;  // every rank has its share
        CAPTURE(problem, degree, static_cast<int>(precision));
        CrewSystem system(Communicator::self(), problem);
        AmgPreconditioner preconditioner(
            system.op(), {.degree = std::max(degree, 1),
                          .direct_rows = degree == 0 ? 3 : 20,
                          .precision = precision,
                          .form = degree == 0 ? Settings::Form::w : Settings::Form::v});
        CHECK(preconditioner.is_symmetric());
        CHECK(preconditioner.report().levels.size() > 1);
        // W-cycles down to 3 rows visit nearly singular ones often.
        const double of_float = degree == 0 ? 2e-4 : 1e-5;
        const double rounding = precision == Settings::Precision::in_float ? of_float : 1e-12;
        const auto a = some_vector(system.count(), 1);
        const auto b = some_vector(system.count(), 5);
        const auto of_a = apply(system, preconditioner, a);
        const auto of_b = apply(system, preconditioner, b);
        const double size = std::sqrt(dot(a, of_a) * dot(b, of_b));
        CHECK(std::abs(dot(a, of_b) - dot(b, of_a)) < rounding * size);
        CHECK(dot(a, of_a) > 0);
        CHECK(dot(b, of_b) > 0);
        // An upper bound of the norm, and not one of no use.
        CHECK(std::sqrt(dot(of_a, of_a) / dot(a, a)) < preconditioner.norm());
        CHECK(std::sqrt(dot(of_a, of_a) / dot(a, a)) * 1e6 > preconditioner.norm());
      }
}

TEST_CASE("M has the same bits on any ranks and threads and in any mode") {
  const auto world = Communicator::collective_world();
  int turn = world.size() / 2;  // half of the modes, the others on other ranks
  for (const std::string problem : {"poisson2d:23x19", "diffusion3d:9,lognormal:3",
                                    "irregular:900,nnzr=7,bandwidth=40,seed=3"}) {
    CrewSystem alone(Communicator::self(), problem, 1);
    CrewSystem together(world, problem);
    struct Cycle {
      Settings::Form form;
      int degree;
    };
    for (const auto& [form, degree] :
         {Cycle{Settings::Form::v, 2}, {Settings::Form::v, 3}, {Settings::Form::w, 2}}) {
      Settings settings = with_levels;
      settings.degree = degree;
      settings.form = form;
      AmgPreconditioner reference(alone.op(), settings);
      const auto r = some_vector(alone.count(), 3);
      const auto expected = apply(alone, reference, r);
      for (const spmv::Mode mode : spmv::all_modes()) {
        if (turn++ % 2 == 0) continue;
        CAPTURE(problem, static_cast<int>(form), degree, spmv::name(mode));
        settings.mode = mode;
        settings.gather_rows = mode == spmv::Mode::task ? 1 : 30;
        AmgPreconditioner preconditioner(together.op(), settings);
        CHECK(preconditioner.norm() == Approx(reference.norm()));
        CHECK(apply(together, preconditioner, together.own(r)) == together.own(expected));
        CHECK(preconditioner.report().operator_complexity() ==
              reference.report().operator_complexity());
      }
    }
  }
}

TEST_CASE("conjugate gradients take few iterations, and as many on any ranks") {
  struct Expected {
    std::string problem;
    std::int64_t iterations;
  };
  const auto world = Communicator::collective_world();
  const std::vector<std::string> methods{"cg", "cg-one-reduction", "fcg"};
  auto turn = static_cast<std::size_t>(world.size());  // each of them on some number of ranks
  for (const auto& [problem, iterations] : {Expected{"poisson3d:16", 11},
                                            {"anisotropic3d:16,1,1,0.001", 12},
                                            {"anisotropic3d:150x40x1,1,0.001,0.001", 12},
                                            {"diffusion3d:16,jumps:10000", 15},
                                            {"poisson2d:60x60", 14},
                                            {"diffusion3d:16,lognormal:3", 27},
                                            {"diffusion3d:16,checkerboard:4,1000", 28}}) {
    const std::string& method = methods[turn++ % methods.size()];
    CAPTURE(problem, method);
    CrewSystem alone(Communicator::self(), problem, 1);
    CrewSystem together(world, problem);
    const std::vector<double> b(alone.count(), 1.0);
    const Solved expected = solve(alone, {.direct_rows = 50}, b, method);
    const Solved found = solve(together, {.direct_rows = 50}, b, method);
    CHECK(found.report.status == SolveStatus::converged);
    CHECK(found.report.relative_residual < 2e-10);
    CHECK(found.report.iterations <= iterations);
    CHECK(found.report.iterations == expected.report.iterations);
    CHECK(found.x == together.own(expected.x));
  }
}

TEST_CASE("a W-cycle takes fewer iterations than a V-cycle, and is taken where it is cheap") {
  if (Communicator::collective_world().size() > 1) return;  // every rank would do the same
  CrewSystem system(Communicator::self(), "poisson2d:100x100");
  const std::vector<double> b(system.count(), 1.0);
  Settings settings{.degree = 1, .direct_rows = 4, .form = Settings::Form::v};
  const Solved of_v = solve(system, settings, b, "cg");
  settings.form = Settings::Form::w;
  const Solved of_w = solve(system, settings, b, "cg");
  CHECK(of_w.report.status == SolveStatus::converged);
  CHECK(of_w.report.iterations < of_v.report.iterations);

  AmgPreconditioner w(system.op(), settings);
  const auto levels = w.report().levels;
  CHECK(levels.size() >= 5);
  CHECK(levels[1].visits == 1);
  CHECK(levels[2].visits == 2);
  CHECK(levels[3].visits == 4);
  CHECK(levels.back().visits == levels[levels.size() - 2].visits);  // solved directly

  settings.form = Settings::Form::automatic;
  CHECK(AmgPreconditioner(system.op(), settings).report().form == Settings::Form::w);
  // Levels that shrink by three in the one direction with strong couplings are dear to visit.
  CrewSystem line(Communicator::self(), "anisotropic3d:20,1,1,10");
  CHECK(AmgPreconditioner(line.op(), settings).report().form == Settings::Form::v);
}

TEST_CASE("a solve does not depend on the magnitude of the right-hand sides before it") {
  CrewSystem system(Communicator::collective_world(), "poisson2d:20x20");
  for (const auto form : {Settings::Form::v, Settings::Form::w}) {
    Settings settings = with_levels;
    settings.form = form;
    AmgPreconditioner preconditioner(system.op(), settings);
    KrylovMethod::Options options;
    options.preconditioner = &preconditioner;
    options.stop.tolerance = 1e-10;
    const auto solver = find_krylov_method("fcg")->collective_make(system.op(), options);
    std::int64_t iterations = 0;
    std::vector<double> expected;
    for (const int exponent : {0, -200, 200, 0}) {
      CAPTURE(static_cast<int>(form), exponent);
      const SolveReport report =
          solver->solve(std::vector<double>(system.count(), std::ldexp(1.0, exponent)));
      CHECK(report.status == SolveStatus::converged);
      std::vector<double> x(solver->solution().begin(), solver->solution().end());
      for (double& value : x) value = std::ldexp(value, -exponent);
      if (expected.empty()) {
        iterations = report.iterations;
        expected = x;
      }
      CHECK(report.iterations == iterations);
      CHECK(x == expected);
    }
  }
}

TEST_CASE("elasticity takes few iterations with the modes of a rigid body, the same on any ranks") {
  const std::string problem = "elasticity3d:12x4x4";
  CrewSystem alone(Communicator::self(), problem, 1);
  CrewSystem together(Communicator::collective_world(), problem);
  const std::vector<double> b = some_vector(alone.count(), 3);
  for (const auto precision : {Settings::Precision::in_float, Settings::Precision::in_double})
    for (const GlobalIndex gather_rows : {1, 300}) {
      CAPTURE(static_cast<int>(precision), gather_rows);
      const Settings settings{
          .direct_rows = 30, .gather_rows = gather_rows, .precision = precision};
      const Solved expected = solve(alone, settings, b, "cg", modes_of(alone, problem));
      const Solved found = solve(together, settings, b, "cg", modes_of(together, problem));
      CHECK(found.report.status == SolveStatus::converged);
      CHECK(found.report.iterations <= 22);
      CHECK(found.report.iterations == expected.report.iterations);
      CHECK(found.x == together.own(expected.x));
    }
  const auto constants = constants_of_nodes(3, static_cast<GlobalIndex>(together.first()),
                                            static_cast<spmv::LocalIndex>(together.count()));
  const Solved worse = solve(together, {.direct_rows = 30}, b, "cg", constants);
  CHECK(worse.report.status == SolveStatus::converged);
  CHECK(worse.report.iterations > 30);
}

TEST_CASE("vectors that depend on each other leave coarse rows of zeros, which do no harm") {
  const std::string problem = "poisson2d:30x30";
  // 1, 2, and the number of the row.
  const auto vectors_of = [](const CrewSystem& system) {
    NearNullSpace space{.block_size = 1, .vector_count = 3, .values = {}};
    for (std::size_t row = system.first(); row < system.first() + system.count(); ++row)
      space.values.insert(space.values.end(), {1, 2, static_cast<double>(row)});
    return space;
  };
  CrewSystem alone(Communicator::self(), problem, 1);
  CrewSystem together(Communicator::collective_world(), problem);
  const std::vector<double> b(alone.count(), 1.0);
  const Settings settings{.direct_rows = 30, .gather_rows = 90};
  const Solved expected = solve(alone, settings, b, "cg", vectors_of(alone));
  const Solved found = solve(together, settings, b, "cg", vectors_of(together));
  CHECK(found.report.status == SolveStatus::converged);
  CHECK(found.report.iterations < 25);
  CHECK(found.x == together.own(expected.x));
}

TEST_CASE("rows without couplings, and more ranks than rows of a level, are no obstacle") {
  ReferenceMatrix matrix = tests::reference_matrix(spmv::Problem::parse("poisson2d:9x7"));
  for (int i = 0; i < 4; ++i) {
    matrix.emplace_back();
    matrix.back()[static_cast<GlobalIndex>(matrix.size()) - 1] = 3.0 + i;
  }
  for (const std::int64_t direct_rows : {1, 3, 100}) {
    CAPTURE(direct_rows);
    CrewSystem system(Communicator::collective_world(), matrix);
    const auto solved =
        solve(system, {.direct_rows = direct_rows}, std::vector<double>(matrix.size(), 1.0));
    CHECK(solved.report.status == SolveStatus::converged);
    CHECK(solved.report.iterations < 20);
  }
}

TEST_CASE("a diagonal matrix and one row are solved") {
  for (const std::size_t size : {std::size_t{1}, std::size_t{30}}) {
    ReferenceMatrix matrix(size);
    for (std::size_t row = 0; row < size; ++row)
      matrix[row][static_cast<GlobalIndex>(row)] = 1e-3 * static_cast<double>(row + 1);
    CrewSystem system(Communicator::collective_world(), matrix);
    for (const std::int64_t direct_rows : {10, 100}) {
      const auto solved =
          solve(system, {.direct_rows = direct_rows}, std::vector<double>(size, 1.0));
      CHECK(solved.report.status == SolveStatus::converged);
    }
  }
}

TEST_CASE("singular systems that have a solution are solved, one part or several") {
  // Two paths without boundary conditions: every right-hand side sums to 0 on each.
  const ReferenceMatrix matrix = path(40, 60, path(60, 0));
  std::vector<double> b(100);
  for (std::size_t i = 0; i < 60; ++i) b[i] = i % 2 == 0 ? 1 : -1;
  for (std::size_t i = 60; i < 100; ++i) b[i] = i < 80 ? 0.5 : -0.5;
  for (const std::int64_t direct_rows : {1, 10, 1000}) {
    CAPTURE(direct_rows);
    CrewSystem system(Communicator::collective_world(), matrix);
    AmgPreconditioner preconditioner(system.op(), {.direct_rows = direct_rows});
    KrylovMethod::Options options;
    options.preconditioner = &preconditioner;
    options.stop.tolerance = 1e-6;
    const auto solver = find_krylov_method("cg")->collective_make(system.op(), options);
    const SolveReport report = solver->solve(system.own(b));
    CHECK(report.status == SolveStatus::converged);
    CHECK(report.iterations < 40);
  }
}

TEST_CASE("scales far from 1 change nothing") {
  ReferenceMatrix matrix = tests::reference_matrix(spmv::Problem::parse("poisson2d:20x20"));
  CrewSystem plain(Communicator::collective_world(), matrix);
  std::vector<double> b(matrix.size(), 1.0);
  const Solved expected = solve(plain, with_levels, b);
  for (const int exponent : {-150, 150}) {
    ReferenceMatrix scaled = matrix;
    for (auto& row : scaled)
      for (auto& [column, value] : row) value = std::ldexp(value, exponent);
    std::vector<double> right(matrix.size(), std::ldexp(1.0, exponent / 2));
    CrewSystem system(Communicator::collective_world(), scaled);
    const Solved found = solve(system, with_levels, right);
    CHECK(found.report.status == SolveStatus::converged);
    CHECK(found.report.iterations == expected.report.iterations);
  }
}

TEST_CASE("matrices that are not positive definite are refused on every rank") {
  ReferenceMatrix matrix = tests::reference_matrix(spmv::Problem::parse("poisson2d:6x6"));
  matrix[20][20] = -1;
  CrewSystem negative(Communicator::collective_world(), matrix);
  CHECK_THROWS_AS(AmgPreconditioner(negative.op(), {}), comm_thread::InputError);
  matrix[20][20] = 0.01;  // positive, but the matrix is indefinite
  CrewSystem indefinite(Communicator::collective_world(), matrix);
  CHECK_THROWS_AS(AmgPreconditioner(indefinite.op(), {}), comm_thread::InputError);
}

}  // namespace weft::solver::amg
