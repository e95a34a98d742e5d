#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "solver/krylov/conjugate_gradient.h"
#include "solver/krylov/method.h"
#include "solver/methods/method_table.h"
#include "solver/multigrid/multigrid_preconditioner.h"
#include "spmv/grid/rows_in_order.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/partition.h"
#include "tests/solver/multigrid/reference_cycle.h"
#include "tests/support/mpi_main.h"
#include "tests/support/shared_results.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

using comm_thread::CommThread;
using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::TeamThread;
using spmv::Mode;

/// Neither smooth nor symmetric, between -1 and 1.
double value_of(std::int64_t row) { return std::sin(1.0 + 37.0 * static_cast<double>(row % 1013)); }

struct System {
  System(Communicator ranks, int threads, const std::string& word)
      : communicator(std::move(ranks)),
        team(threads, comm_thread::WaitPolicy::yield),
        comm_thread({.thread_level = tests::session().thread_level()}),
        op(communicator, comm_thread, team, spmv::GridStencil::of(spmv::Problem::parse(word))) {}

  std::vector<double> right_hand_side() const {
    std::vector<double> b(op.element_count());
    for (int thread = 0; thread < team.thread_count(); ++thread)
      for (const spmv::Segment& segment : op.segments(thread))
        for (std::size_t i = 0; i < static_cast<std::size_t>(segment.count); ++i)
          b[segment.begin + i] = value_of(op.global_row(segment.begin + i));
    return b;
  }
  /// All values on every rank, in the order of the rows.
  std::vector<double> collective_whole(const std::vector<double>& vector) const {
    const auto rows = spmv::RowPartition::by_rows(op.global_row_count(), communicator.size());
    const auto part = spmv::collective_rows_in_order(communicator, op, vector, rows);
    // Every value is one rank's, and the others add nothing to its bits.
    std::vector<std::int64_t> bits(static_cast<std::size_t>(op.global_row_count()));
    std::ranges::transform(
        part, bits.begin() + static_cast<std::ptrdiff_t>(rows.begin(communicator.rank())),
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

  /// The largest |b - A·x| of the own rows.
  double collective_largest_residual(std::span<const double> b, std::span<const double> x) {
    const auto operand = op.collective_make_operand();
    std::vector<double> product(op.element_count());
    perfmodel::PhaseTimer timer;
    team.run([&](const TeamThread& thread) {
      for (const spmv::Segment& own : op.segments(thread.index))
        std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(own.begin), own.count,
                    operand->values() + own.begin);
      op.apply(thread, Mode::vector, *operand, product.data(), timer, {});
    });
    double largest = 0;
    for (int thread = 0; thread < team.thread_count(); ++thread)
      for (const spmv::Segment& own : op.segments(thread))
        for (std::size_t i = own.begin; i < own.begin + static_cast<std::size_t>(own.count); ++i)
          largest = std::max(largest, std::abs(b[i] - product[i]));
    return largest;
  }

  Communicator communicator;
  ComputeTeam team;
  CommThread comm_thread;
  spmv::StencilOperator op;
};

const std::vector<std::string> problems{"poisson3d:20x17x33",
                                        "poisson3d:32",
                                        "anisotropic3d:19x24x21,1,1,40",
                                        "anisotropic3d:16,90,90,1",
                                        "poisson2d:75x46",
                                        "poisson3d:41x5x9",
                                        "poisson3d27:20x17x33",
                                        "poisson3d27:5",
                                        "poisson3d:5x300x2",
                                        "anisotropic3d:9x7x30,5,1,40",
                                        "poisson2d:20x90",
                                        "poisson3d:5",
                                        "poisson3d:3x4x2"};

TEST_CASE("a cycle does what its reference does, operation by operation") {
  constexpr std::size_t most_steps = 4;
  const auto all_expected =
      tests::collective_results(problems.size() * most_steps, [](std::size_t i) {
        const auto stencil = spmv::GridStencil::of(spmv::Problem::parse(problems[i / most_steps]));
        std::vector<double> r;
        for (std::int64_t row = 0; row < stencil.row_count(); ++row) r.push_back(value_of(row));
        return tests::apply_reference_cycle(grid_levels(stencil, 1000),
                                            static_cast<int>(i % most_steps) + 1, r);
      });
  std::size_t next = 0;
  for (const std::string& word : problems)
    for (const int steps : {1, 2, 3, 4}) {
      CAPTURE(word, steps);
      const auto& expected = all_expected[next++];
      System system(Communicator::collective_world(), tests::thread_count(), word);
      const auto apply = [&](bool is_double) {
        MultigridPreconditioner cycle(system.op, {.steps = steps, .is_double = is_double});
        return system.collective_whole(system.collective_apply(cycle, system.right_hand_side()));
      };
      const auto z = apply(false);
      const auto z_double = apply(true);
      double largest = 0;
      double difference = 0;
      double difference_of_double = 0;
      for (std::size_t i = 0; i < z.size(); ++i) {
        largest = std::max(largest, std::abs(expected[i]));
        difference = std::max(difference, std::abs(z[i] - expected[i]));
        difference_of_double = std::max(difference_of_double, std::abs(z_double[i] - expected[i]));
      }
      CHECK(largest > 0);
      CHECK(difference < 1e-5 * largest);
      CHECK(difference_of_double < 1e-9 * largest);  // the reference iterates on its last grid
    }
}

TEST_CASE("a cycle is symmetric") {
  System system(Communicator::collective_world(), tests::thread_count(), "poisson3d:23x18x20");
  MultigridPreconditioner cycle(system.op, {});
  const auto r = system.right_hand_side();
  std::vector<double> s = r;
  for (double& value : s) value = value * value - 0.3;
  for (std::size_t i = 0; i < s.size(); ++i)
    if (r[i] == 0) s[i] = 0;  // between rows
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

/// All of x by multigrid, as a method or in conjugate gradients; solves twice.
std::vector<double> solve(System& where, bool is_preconditioner, Mode mode) {
  const double norm_of_b = std::sqrt(static_cast<double>(where.op.global_row_count()));
  MultigridPreconditioner cycle(where.op, {.mode = mode});
  KrylovMethod::Options options{.mode = mode, .stop = {}, .on_iteration = {}};
  if (is_preconditioner) options.preconditioner = &cycle;
  const auto method = find_krylov_method(is_preconditioner ? "cg" : "multigrid")
                          ->collective_make(where.op, options);
  const auto b = where.right_hand_side();
  const SolveReport report = method->solve(b);
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.iterations <= 11);
  CHECK(report.relative_residual < 1.1e-8);
  const std::vector<double> x(method->solution().begin(), method->solution().end());
  CHECK(where.collective_largest_residual(b, x) < 1.1e-8 * norm_of_b);
  const SolveReport again = method->solve(b);
  CHECK(again.iterations == report.iterations);
  CHECK(std::equal(x.begin(), x.end(), method->solution().begin()));
  return where.collective_whole(x);
}

TEST_CASE("multigrid solves in few iterations, with the same bits on any ranks and in any mode") {
  const auto all_expected = tests::collective_results(problems.size() * 2, [](std::size_t i) {
    CAPTURE(problems[i / 2]);
    System alone(Communicator::self(), 1, problems[i / 2]);
    return solve(alone, i % 2 == 1, Mode::vector);
  });
  std::size_t next = 0;
  for (const std::string& word : problems) {
    System system(Communicator::collective_world(), tests::thread_count(), word);
    for (const bool is_preconditioner : {false, true}) {
      const auto& expected = all_expected[next++];
      for (const Mode mode : {Mode::vector, Mode::overlap, Mode::overlap_test, Mode::task}) {
        CAPTURE(word, is_preconditioner, name(mode));
        CHECK(solve(system, is_preconditioner, mode) == expected);
      }
    }
  }
}

TEST_CASE("every variant of CG converges with a cycle in single precision") {
  System system(Communicator::collective_world(), tests::thread_count(), "poisson3d:33x40x36");
  MultigridPreconditioner cycle(system.op, {});
  for (const KrylovEntry& variant : krylov_methods()) {
    if (!variant.is_cg_variant) continue;
    CAPTURE(variant.name);
    const auto method = variant.collective_make(
        system.op, {.preconditioner = &cycle, .stop = {}, .on_iteration = {}});
    const SolveReport report = method->solve(system.right_hand_side());
    CHECK(report.status == SolveStatus::converged);
    CHECK(report.relative_residual < 1.1e-8);
    // Its recurrences drift, so that it begins again from the true residual.
    const bool begins_again = std::string(variant.name) == "cg-pipelined";
    CHECK(report.iterations <= (begins_again ? 25 : 12));
  }
}

/// x of the own rows after a solve from zero and one from a guess, behind them all residuals.
std::vector<double> solve_twice(KrylovMethod& method, std::vector<double>& residuals,
                                const std::vector<double>& b) {
  std::vector<double> found;
  const auto keep = [&](const SolveReport& report) {
    CHECK(report.status == SolveStatus::converged);
    found.insert(found.end(), method.solution().begin(), method.solution().end());
    found.push_back(report.relative_residual);
    found.push_back(report.recurrence_residual);
  };
  keep(method.solve(b));
  std::vector<double> guess(method.solution().begin(), method.solution().end());
  for (std::size_t i = 0; i < guess.size(); ++i)
    guess[i] *= 1 + 1e-3 * value_of(static_cast<std::int64_t>(i));
  keep(method.solve(b, Guess(guess)));
  found.insert(found.end(), residuals.begin(), residuals.end());
  residuals.clear();
  return found;
}

TEST_CASE("cg with a cycle in its passes has the bits of cg with a cycle beside them") {
  for (std::size_t i = 0; i < problems.size(); i += 2) {
    const std::string& word = problems[i];
    System system(Communicator::collective_world(), tests::thread_count(), word);
    for (const bool is_double : {false, true})
      for (const double unit : {1.0, 1e-100}) {
        CAPTURE(word, is_double, unit);
        MultigridPreconditioner cycle(system.op, {.is_double = is_double, .mode = Mode::overlap});
        std::vector<double> residuals;
        const KrylovMethod::Options options{
            .mode = Mode::overlap,
            .preconditioner = &cycle,
            .stop = {},
            .on_iteration = [&](std::int64_t, double residual) { residuals.push_back(residual); }};
        std::vector<double> b = system.right_hand_side();
        for (double& value : b) value *= unit;
        const auto together = find_krylov_method("cg")->collective_make(system.op, options);
        ConjugateGradient beside(system.op, options);
        CHECK(together->array_count() + 1 == beside.array_count());
        CHECK(together->vector_bytes() == (is_double ? 104 : 84));
        CHECK(solve_twice(*together, residuals, b) == solve_twice(beside, residuals, b));
      }
  }
}

/// All of x by multigrid or by conjugate gradients with it, and behind x the number of iterations.
std::vector<double> solve_counted(System& where, const std::string& name,
                                  const MultigridSettings& settings, Mode mode) {
  const CycleOptions of_cycle{
      .steps = settings.steps, .is_double = settings.is_double, .mode = mode};
  std::optional<MultigridPreconditioner> cycle;
  KrylovMethod::Options options{
      .mode = mode, .stop = {}, .multigrid = settings, .on_iteration = {}};
  if (name == "cg") options.preconditioner = &cycle.emplace(where.op, of_cycle);
  const auto method = find_krylov_method(name)->collective_make(where.op, options);
  const SolveReport report = method->solve(where.right_hand_side());
  CHECK(report.status == SolveStatus::converged);
  auto x = where.collective_whole({method->solution().begin(), method->solution().end()});
  x.push_back(static_cast<double>(report.iterations));
  return x;
}

TEST_CASE("more steps take fewer iterations, and gathering changes no bit") {
  const std::string word = "poisson3d:33x40x36";
  System system(Communicator::collective_world(), tests::thread_count(), word);
  constexpr std::array expected_iterations{13, 7, 6, 5};
  const auto all_expected =
      tests::collective_results(expected_iterations.size(), [&](std::size_t i) {
        System alone(Communicator::self(), 1, word);
        return solve_counted(alone, "multigrid", {.steps = static_cast<int>(i) + 1}, Mode::vector);
      });
  for (const int steps : {1, 2, 3, 4}) {
    CAPTURE(steps);
    const auto i = static_cast<std::size_t>(steps - 1);
    CHECK(all_expected[i].back() == expected_iterations.at(i));
    for (const std::int64_t gather : {1, 8, 30})
      CHECK(solve_counted(system, "multigrid", {.steps = steps, .least_points = gather},
                          Mode::vector) == all_expected[i]);
  }
}

TEST_CASE("a hierarchy in double precision takes as many iterations, with the same bits anywhere") {
  // Each of two words, names and numbers of steps; expected in single and in double precision.
  const std::array<std::string, 2> words{"poisson3d:33x40x36", "poisson3d27:20x17x33"};
  const std::array<std::string, 2> names{"multigrid", "cg"};
  const auto run = [&](System& where, std::size_t i, Mode mode, bool is_double) {
    return solve_counted(where, names.at(i / 2 % 2),
                         {.steps = i % 2 == 1 ? 3 : 2, .is_double = is_double}, mode);
  };
  const auto all_expected = tests::collective_results(16, [&](std::size_t i) {
    System alone(Communicator::self(), 1, words.at(i / 8));
    return run(alone, i / 2, Mode::vector, i % 2 == 1);
  });
  for (std::size_t i = 0; i < 8; ++i) {
    CAPTURE(words.at(i / 4), names.at(i / 2 % 2), i % 2);
    const auto& expected = all_expected[2 * i + 1];
    CHECK(expected.back() == all_expected[2 * i].back());
    CHECK(expected != all_expected[2 * i]);
    System system(Communicator::collective_world(), tests::thread_count(), words.at(i / 4));
    for (const Mode mode : {Mode::vector, Mode::overlap, Mode::task})
      CHECK(run(system, i, mode, true) == expected);
  }
}

TEST_CASE("tiles of any size give the same bits") {
  for (const std::string word : {"poisson3d:33x40x36", "poisson3d27:19x33x24"}) {
    System system(Communicator::collective_world(), tests::thread_count(), word);
    System alone(Communicator::self(), 1, word);
    const auto apply = [&](System& where, spmv::GlobalIndex points_in_cache) {
      MultigridPreconditioner cycle(
          where.op, {.steps = 2, .points_in_cache = points_in_cache, .mode = Mode::task});
      return where.collective_whole(where.collective_apply(cycle, where.right_hand_side()));
    };
    const auto expected = apply(alone, 1 << 19);
    for (const spmv::GlobalIndex points : {1, 3000, 10000, 30000, 1 << 19}) {
      CAPTURE(word, points);
      CHECK(apply(system, points) == expected);
      CHECK(apply(alone, points) == expected);
    }
  }
}

TEST_CASE("multigrid solves a single point in one iteration") {
  for (const std::string word : {"poisson3d:1", "poisson3d27:1", "poisson2d:1x1"}) {
    CAPTURE(word);
    System system(Communicator::self(), 1, word);
    MultigridPreconditioner cycle(system.op, {});
    const auto b = system.right_hand_side();
    const auto method = find_krylov_method("cg")->collective_make(
        system.op, {.preconditioner = &cycle, .stop = {}, .on_iteration = {}});
    const SolveReport report = method->solve(b);
    CHECK(report.status == SolveStatus::converged);
    CHECK(report.iterations == 1);
  }
}

TEST_CASE("multigrid reports the true residual, reached or not") {
  System system(Communicator::collective_world(), tests::thread_count(), "poisson3d:31");
  const auto b = system.right_hand_side();
  const auto run = [&](double tolerance, std::int64_t most) {
    const auto method =
        find_krylov_method("multigrid")
            ->collective_make(system.op, {.stop = {.tolerance = tolerance, .max_iterations = most},
                                          .on_iteration = {}});
    const SolveReport report = method->solve(b);
    // By plain conjugate gradients' product.
    const auto x = system.op.collective_make_operand();
    std::vector<double> y(system.op.element_count());
    std::copy(method->solution().begin(), method->solution().end(), x->values());
    perfmodel::PhaseTimer timer;
    system.team.run([&](const TeamThread& thread) {
      system.op.apply(thread, Mode::vector, *x, y.data(), timer, {});
    });
    const auto whole_b = system.collective_whole(b);
    const auto whole_y = system.collective_whole(y);
    double square = 0;
    double b_square = 0;
    for (std::size_t i = 0; i < whole_b.size(); ++i) {
      square += (whole_b[i] - whole_y[i]) * (whole_b[i] - whole_y[i]);
      b_square += whole_b[i] * whole_b[i];
    }
    CHECK(report.relative_residual == Approx(std::sqrt(square / b_square)).epsilon(1e-3));
    return report;
  };
  CHECK(run(1e-12, 100).status == SolveStatus::converged);
  const SolveReport stopped = run(1e-8, 3);
  CHECK(stopped.status == SolveStatus::not_converged);
  CHECK(stopped.iterations == 3);
  const auto nothing = find_krylov_method("multigrid")
                           ->collective_make(system.op, {.stop = {}, .on_iteration = {}})
                           ->solve(std::vector<double>(b.size()));
  CHECK(nothing.status == SolveStatus::converged);
  CHECK(nothing.iterations == 0);
}

}  // namespace
}  // namespace weft::solver
