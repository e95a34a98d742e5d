#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/methods/method_table.h"
#include "solver/multigrid/level_plan.h"
#include "solver/multigrid/multigrid_preconditioner.h"
#include "spmv/grid/diffusion_operator.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/generator.h"
#include "spmv/problems/problem.h"
#include "tests/solver/multigrid/varying_reference.h"
#include "tests/support/mpi_main.h"
#include "tests/support/shared_results.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

using comm_thread::CommThread;
using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::InputError;
using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::Mode;

/// Neither smooth nor symmetric, between -1 and 1.
double value_of(std::int64_t row) { return std::sin(1.0 + 37.0 * static_cast<double>(row % 1013)); }

struct System {
  System(Communicator ranks, int threads, const std::string& word,
         spmv::PartitionBy partition_by = spmv::PartitionBy::rows)
      : communicator(std::move(ranks)),
        team(threads, comm_thread::WaitPolicy::yield),
        comm_thread({.thread_level = tests::session().thread_level()}),
        problem(spmv::Problem::parse(word)),
        op(communicator, comm_thread, team,
           collective_generate(communicator, team, problem, partition_by)) {}

  GlobalIndex first_row() const { return op.matrix().matrix().first_row(); }
  std::vector<double> right_hand_side() const {
    std::vector<double> b(op.element_count());
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = value_of(first_row() + static_cast<std::int64_t>(i));
    return b;
  }
  /// All values on every rank.
  std::vector<double> collective_whole(const std::vector<double>& part) const {
    std::vector<std::int64_t> bits(static_cast<std::size_t>(op.global_row_count()));
    std::ranges::transform(part, bits.begin() + first_row(),
                           [](double value) { return std::bit_cast<std::int64_t>(value); });
    communicator.sum(bits);
    std::vector<double> whole(bits.size());
    std::ranges::transform(bits, whole.begin(),
                           [](std::int64_t value) { return std::bit_cast<double>(value); });
    return whole;
  }
  std::vector<double> collective_apply(Preconditioner& m, const std::vector<double>& r) const {
    std::vector<double> z(op.element_count());
    team.run([&](const TeamThread& thread) { m.apply(thread, r.data(), z.data()); });
    return z;
  }
  MultigridPreconditioner::Grid grid() const { return {.size = problem.grid}; }

  Communicator communicator;
  ComputeTeam team;
  CommThread comm_thread;
  spmv::Problem problem;
  spmv::SparseOperator op;
};

const std::vector<std::string> problems{
    "diffusion3d:20x17x33,lognormal:2", "diffusion3d:32,checkerboard:4,1000",
    "diffusion3d:19x24x21,jumps:0.01",  "diffusion3d:41x5x9,lognormal:1",
    "diffusion3d:5x300x2,lognormal:1",  "diffusion3d:30x41x1,lognormal:1",
    "diffusion3d:3x4x2,lognormal:1",    "anisotropic3d:16x20x18,1,1,40",
    "anisotropic3d:18,90,90,1"};

TEST_CASE("a cycle with varying couplings does what its reference does, operation by operation") {
  constexpr std::array all_steps{std::pair{1, 1}, std::pair{2, 4}, std::pair{4, 4},
                                 std::pair{6, 4}};
  const auto all_expected =
      tests::collective_results(problems.size() * all_steps.size(), [&](std::size_t i) {
        const auto problem = spmv::Problem::parse(problems[i / all_steps.size()]);
        const auto [finest_steps, steps] = all_steps.at(i % all_steps.size());
        std::vector<double> r;
        for (std::int64_t row = 0; row < problem.row_count(); ++row) r.push_back(value_of(row));
        return tests::apply_varying_reference(problem, coarsest_points, finest_steps, steps, r);
      });
  std::size_t next = 0;
  for (const std::string& word : problems)
    for (const auto& [finest_steps, steps] : all_steps) {
      CAPTURE(word, finest_steps, steps);
      const auto& expected = all_expected[next++];
      System system(Communicator::collective_world(), tests::thread_count(), word);
      MultigridPreconditioner cycle(system.op, system.grid(),
                                    {.steps = steps, .finest_steps = finest_steps});
      const auto z =
          system.collective_whole(system.collective_apply(cycle, system.right_hand_side()));
      double largest = 0;
      double difference = 0;
      for (std::size_t i = 0; i < z.size(); ++i) {
        largest = std::max(largest, std::abs(expected[i]));
        difference = std::max(difference, std::abs(z[i] - expected[i]));
      }
      CHECK(largest > 0);
      CHECK(difference < 2e-5 * largest);
    }
}

TEST_CASE("the finest grid is smoothed more where couplings jump from point to point") {
  const std::vector<std::pair<std::string, int>> expected{{"diffusion3d:20x17x33,lognormal:2", 6},
                                                          {"diffusion3d:32,checkerboard:4,1000", 4},
                                                          {"diffusion3d:32,checkerboard:8,1000", 2},
                                                          {"diffusion3d:19x24x21,jumps:0.01", 2},
                                                          {"anisotropic3d:16x20x18,1,1,40", 2}};
  for (const auto& [word, steps] : expected) {
    CAPTURE(word);
    System system(Communicator::collective_world(), tests::thread_count(), word);
    MultigridPreconditioner cycle(system.op, system.grid(), {.steps = 0});
    CHECK(cycle.options().steps_on(0) == steps);
    CHECK(cycle.options().steps_on(1) == 4);
  }
}

TEST_CASE("a cycle with varying couplings is symmetric") {
  System system(Communicator::collective_world(), tests::thread_count(),
                "diffusion3d:23x18x20,lognormal:2");
  MultigridPreconditioner cycle(system.op, system.grid(), {});
  const auto r = system.right_hand_side();
  std::vector<double> s = r;
  for (double& value : s) value = value * value - 0.3;
  const auto whole_r = system.collective_whole(r);
  const auto whole_s = system.collective_whole(s);
  const auto mr = system.collective_whole(system.collective_apply(cycle, r));
  const auto ms = system.collective_whole(system.collective_apply(cycle, s));
  double r_ms = 0;
  double s_mr = 0;
  double size = 0;
  for (std::size_t i = 0; i < mr.size(); ++i) {
    r_ms += whole_r[i] * ms[i];
    s_mr += whole_s[i] * mr[i];
    size += std::abs(whole_r[i] * ms[i]);
  }
  CHECK(std::abs(r_ms - s_mr) < 1e-5 * size);
}

/// A solve by conjugate gradients; all of x.
std::vector<double> solve(System& system, Mode mode, std::int64_t most_iterations) {
  const auto cycle =
      system.problem.has_stencil()
          ? std::make_unique<MultigridPreconditioner>(
                system.op, spmv::GridStencil::of(system.problem), CycleOptions{.mode = mode})
          : std::make_unique<MultigridPreconditioner>(system.op, system.grid(),
                                                      CycleOptions{.steps = 0, .mode = mode});
  const auto method = find_krylov_method("cg")->collective_make(
      system.op, {.mode = mode, .preconditioner = cycle.get(), .stop = {}, .on_iteration = {}});
  const SolveReport report = method->solve(system.right_hand_side());
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.iterations <= most_iterations);
  return system.collective_whole({method->solution().begin(), method->solution().end()});
}

TEST_CASE("multigrid for matrices takes few iterations, with the same bits on any ranks") {
  std::vector<std::string> words = problems;
  words.insert(words.end(), {"poisson3d:20x17x33", "poisson2d:75x46", "poisson3d27:17"});
  const auto all_expected = tests::collective_results(words.size(), [&](std::size_t i) {
    CAPTURE(words[i]);
    System alone(Communicator::self(), 1, words[i]);
    return solve(alone, Mode::vector, 16);
  });
  std::size_t next = 0;
  for (const std::string& word : words) {
    const auto& expected = all_expected[next++];
    for (const Mode mode : {Mode::vector, Mode::overlap, Mode::task}) {
      CAPTURE(word, name(mode));
      System system(Communicator::collective_world(), tests::thread_count(), word,
                    mode == Mode::task ? spmv::PartitionBy::nonzeros : spmv::PartitionBy::rows);
      CHECK(solve(system, mode, 16) == expected);
    }
  }
}

/// An operator without a matrix and the same vectors in the order of its rows.
struct GridSystem {
  GridSystem(Communicator ranks, int threads, const std::string& word)
      : communicator(std::move(ranks)),
        team(threads, comm_thread::WaitPolicy::yield),
        comm_thread({.thread_level = tests::session().thread_level()}),
        op(communicator, comm_thread, team, spmv::Problem::parse(word)) {}

  std::vector<double> right_hand_side() const {
    std::vector<double> b(op.element_count());
    for (int thread = 0; thread < team.thread_count(); ++thread)
      for (const spmv::Segment& segment : op.segments(thread))
        for (std::size_t i = 0; i < static_cast<std::size_t>(segment.count); ++i)
          b[segment.begin + i] = value_of(op.global_row(segment.begin + i));
    return b;
  }
  std::vector<double> collective_whole(std::span<const double> vector) const {
    std::vector<std::int64_t> bits(static_cast<std::size_t>(op.global_row_count()));
    for (int thread = 0; thread < team.thread_count(); ++thread)
      for (const spmv::Segment& segment : op.segments(thread))
        for (std::size_t i = 0; i < static_cast<std::size_t>(segment.count); ++i)
          bits[static_cast<std::size_t>(op.global_row(segment.begin + i))] =
              std::bit_cast<std::int64_t>(vector[segment.begin + i]);
    communicator.sum(bits);
    std::vector<double> whole(bits.size());
    std::ranges::transform(bits, whole.begin(),
                           [](std::int64_t value) { return std::bit_cast<double>(value); });
    return whole;
  }

  Communicator communicator;
  ComputeTeam team;
  CommThread comm_thread;
  spmv::DiffusionOperator op;
};

TEST_CASE("without a matrix a cycle has the bits of the one that the matrix has") {
  const auto options_of = [](bool is_double) {
    return CycleOptions{.steps = 0, .is_double = is_double};
  };
  const auto all_expected = tests::collective_results(2 * problems.size(), [&](std::size_t i) {
    System matrix(Communicator::self(), 1, problems[i / 2]);
    MultigridPreconditioner cycle(matrix.op, matrix.grid(), options_of(i % 2 == 1));
    return matrix.collective_whole(matrix.collective_apply(cycle, matrix.right_hand_side()));
  });
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const std::string& word = problems[i];
    if (word.find("diffusion") == std::string::npos) continue;
    for (const bool is_double : {false, true}) {
      CAPTURE(word, is_double);
      const CycleOptions options = options_of(is_double);
      GridSystem grid(Communicator::collective_world(), tests::thread_count(), word);
      MultigridPreconditioner cycle(grid.op, options);
      const auto r = grid.right_hand_side();
      std::vector<double> mine(grid.op.element_count());
      grid.team.run([&](const TeamThread& thread) { cycle.apply(thread, r.data(), mine.data()); });
      CHECK(grid.collective_whole(mine) == all_expected[2 * i + (is_double ? 1 : 0)]);
    }
  }
}

TEST_CASE("multigrid as a method solves matrices and couplings that vary, with the same bits") {
  const auto solve = [](auto& system, MultigridPreconditioner& cycle, Mode mode) {
    const auto method =
        find_krylov_method("multigrid")
            ->collective_make(
                system.op,
                {.mode = mode, .preconditioner = &cycle, .stop = {}, .on_iteration = {}});
    const SolveReport report = method->solve(system.right_hand_side());
    CHECK(report.status == SolveStatus::converged);
    CHECK(report.relative_residual < 1.1e-8);
    CHECK(report.iterations <= (cycle.least_eigenvalue() ? 9 : 22));
    return system.collective_whole({method->solution().begin(), method->solution().end()});
  };
  for (const std::string word : {"poisson3d:20x17x33", "poisson3d27:17"}) {
    CAPTURE(word);
    const auto run = [&](System& system, Mode mode) {
      MultigridPreconditioner cycle(system.op, spmv::GridStencil::of(system.problem),
                                    {.mode = mode});
      return solve(system, cycle, mode);
    };
    System alone(Communicator::self(), 1, word);
    System system(Communicator::collective_world(), tests::thread_count(), word);
    CHECK(run(system, Mode::task) == run(alone, Mode::vector));
  }
  for (const std::string word :
       {"diffusion3d:20x17x33,lognormal:2", "diffusion3d:32,checkerboard:4,1000"}) {
    CAPTURE(word);
    const auto run = [&](GridSystem& system, Mode mode, bool is_double) {
      MultigridPreconditioner cycle(system.op, {.steps = 0, .is_double = is_double, .mode = mode});
      return solve(system, cycle, mode);
    };
    GridSystem alone(Communicator::self(), 1, word);
    GridSystem system(Communicator::collective_world(), tests::thread_count(), word);
    CHECK(run(system, Mode::overlap, false) == run(alone, Mode::vector, false));
    CHECK(run(system, Mode::overlap, true) == run(alone, Mode::vector, true));
  }
}

/// x of `word` with A and b times powers of two, divided by that of x; and the iterations.
std::pair<std::vector<double>, std::int64_t> solve_in_units(const std::string& word,
                                                            const std::string& name, double a_unit,
                                                            double b_unit) {
  const Communicator communicator = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  const auto problem = spmv::Problem::parse(word);
  auto matrix = collective_generate(communicator, team, problem, spmv::PartitionBy::rows);
  const auto entries = static_cast<std::size_t>(
      matrix.rows.row_offsets[static_cast<std::size_t>(matrix.rows.row_count)]);
  for (std::size_t k = 0; k < entries; ++k) matrix.rows.values[k] *= a_unit;
  std::vector<double> b(static_cast<std::size_t>(matrix.rows.row_count));
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = b_unit * value_of(matrix.first_row() + static_cast<std::int64_t>(i));
  spmv::SparseOperator op(communicator, comm_thread, team, std::move(matrix));
  MultigridPreconditioner cycle(op, {.size = problem.grid}, {.steps = 0});
  const auto method = find_krylov_method(name)->collective_make(
      op, {.preconditioner = &cycle, .stop = {.max_iterations = 40}, .on_iteration = {}});
  const SolveReport report = method->solve(b);
  CAPTURE(word, name, a_unit, b_unit, report.explanation);
  CHECK(report.status == SolveStatus::converged);
  std::vector<double> x(method->solution().begin(), method->solution().end());
  for (double& value : x) value *= a_unit / b_unit;
  return {x, report.iterations};
}

TEST_CASE("single precision holds the cycles of a solve whatever the units of A and b") {
  for (const std::string word : {"poisson3d:8x9x7", "diffusion3d:12x10x14,lognormal:1"})
    for (const std::string name : {"cg", "multigrid"}) {
      const auto [expected, iterations] = solve_in_units(word, name, 1, 1);
      for (const auto& [a_exponent, b_exponent] : std::vector<std::pair<int, int>>{
               {0, -125}, {0, 135}, {660, 0}, {-660, 0}, {300, -100}}) {
        CAPTURE(word, name, a_exponent, b_exponent);
        const auto [x, count] =
            solve_in_units(word, name, std::ldexp(1.0, a_exponent), std::ldexp(1.0, b_exponent));
        CHECK(count == iterations);
        double difference = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
          difference = std::max(difference, std::abs(x[i] - expected[i]));
        CHECK(difference < 1e-7);
      }
    }
}

TEST_CASE("a matrix of a single row is solved in one iteration") {
  System system(Communicator::self(), 1, "diffusion3d:1,constant");
  solve(system, Mode::task, 1);
}

/// The complaint about a matrix with changed entries, as if it had the grid 5x4x3.
std::string complaint(const std::function<double(GlobalIndex, GlobalIndex, double)>& entry) {
  const Communicator communicator = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  const auto problem = spmv::Problem::parse("poisson3d:5x4x3");
  auto matrix = collective_generate(communicator, team, problem, spmv::PartitionBy::rows);
  for (spmv::LocalIndex row = 0; row < matrix.rows.row_count; ++row)
    for (auto k = matrix.rows.row_offsets[static_cast<std::size_t>(row)];
         k < matrix.rows.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
      const auto i = static_cast<std::size_t>(k);
      matrix.rows.values[i] =
          entry(matrix.first_row() + row, matrix.global_column(matrix.rows.columns[i]),
                matrix.rows.values[i]);
    }
  spmv::SparseOperator op(communicator, comm_thread, team, std::move(matrix));
  try {
    MultigridPreconditioner cycle(op, {.size = problem.grid}, {});
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a matrix that is no symmetric 7-point matrix of the grid is refused by its row") {
  const auto changed = [](GlobalIndex row, GlobalIndex column, double to) {
    return complaint([=](GlobalIndex r, GlobalIndex c, double value) {
      return r == row && c == column ? to : value;
    });
  };
  CHECK(changed(-1, 0, 0) == "");
  CHECK(changed(7, 8, 0.5) ==
        "multigrid: row 8: found 0.5 in column 9; expected nothing above 0 beside the diagonal");
  CHECK(changed(7, 7, 0) == "multigrid: row 8: found the diagonal 0; expected one above 0");
  CHECK(changed(7, 7, 3) == "multigrid: row 8: found the sum -2; expected at least 0");
  CHECK(changed(30, 50, -0.5).find("expected a symmetric matrix") != std::string::npos);
  CHECK(changed(30, 31, -0.5).find("expected a symmetric matrix") != std::string::npos);
  CHECK(changed(7, 8, std::nan("")).find("expected finite entries") != std::string::npos);
  // All rows add up to 0.
  CHECK(complaint([](GlobalIndex r, GlobalIndex c, double value) {
          if (r != c) return value;
          const GlobalIndex x = r % 5;
          const GlobalIndex y = r / 5 % 4;
          const GlobalIndex z = r / 20;
          return value - (x == 0) - (x == 4) - (y == 0) - (y == 3) - (z == 0) - (z == 2);
        }).find("not singular") != std::string::npos);

  System system(Communicator::collective_world(), tests::thread_count(), "poisson3d:5x4x3");
  const auto with_grid = [&](const spmv::GridSize& size) -> std::string {
    try {
      MultigridPreconditioner cycle(system.op, {.size = size}, {});
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(with_grid({5, 4, 4}) ==
        "multigrid: found a matrix of 60 rows; expected 80 for the grid 5x4x4");
  CHECK(with_grid({4, 5, 3}) ==
        "multigrid: row 1: found an entry in column 6; expected the 7 points of the grid 4x5x3 "
        "only");
}

}  // namespace
}  // namespace weft::solver
