#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/methods/method_table.h"
#include "solver/multigrid/cubic_terms.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/problems/problem.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;

struct Grid {
  Grid(Communicator ranks, int threads, const std::string& word)
      : communicator(std::move(ranks)),
        team(threads, comm_thread::WaitPolicy::yield),
        comm_thread({.thread_level = tests::session().thread_level()}),
        op(communicator, comm_thread, team, spmv::GridStencil::of(spmv::Problem::parse(word))) {}

  /// Calls visit(element, its row) for the own points.
  template <class Visit>
  void for_each_point(const Visit& visit) const {
    for (int thread = 0; thread < team.thread_count(); ++thread)
      for (const spmv::Segment& segment : op.segments(thread))
        for (std::size_t i = 0; i < static_cast<std::size_t>(segment.count); ++i)
          visit(segment.begin + i, op.global_row(segment.begin + i));
  }
  template <class Value>
  std::vector<double> filled(const Value& value) const {
    std::vector<double> v(op.element_count());
    for_each_point([&](std::size_t i, std::int64_t row) { v[i] = value(row); });
    return v;
  }
  std::pair<SolveReport, std::vector<double>> collective_solve(const std::vector<double>& b,
                                                               bool has_full_start,
                                                               std::int64_t most,
                                                               bool is_double = false) {
    const auto method =
        find_krylov_method("multigrid")
            ->collective_make(
                op, {.stop = {.max_iterations = most},
                     .multigrid = {.has_full_start = has_full_start, .is_double = is_double},
                     .on_iteration = {}});
    const SolveReport report = method->solve(b);
    return {report, {method->solution().begin(), method->solution().end()}};
  }

  Communicator communicator;
  comm_thread::ComputeTeam team;
  comm_thread::CommThread comm_thread;
  spmv::StencilOperator op;
};

/// sin πx · sin 2πy · z(1 - z)eᶻ on the unit cube, and minus its Laplacian.
struct SmoothFunction {
  explicit SmoothFunction(std::int64_t points)
      : size(points), h(1 / static_cast<double>(points + 1)) {}
  double waves(std::int64_t row) const {
    return std::sin(std::numbers::pi * place(row)) *
           std::sin(2 * std::numbers::pi * place(row / size));
  }
  double value(std::int64_t row) const {
    const double z = place(row / size / size);
    return waves(row) * z * (1 - z) * std::exp(z);
  }
  double right_hand_side(std::int64_t row) const {
    const double z = place(row / size / size);
    const double curvature = (-3 * z - z * z) * std::exp(z);
    return h * h * (5 * std::numbers::pi * std::numbers::pi * value(row) - waves(row) * curvature);
  }
  double place(std::int64_t index) const { return h * static_cast<double>(index % size + 1); }
  std::int64_t size;
  double h;
};

/// Root of the mean square of x - u after at most `most` iterations.
double collective_error(std::int64_t size, bool has_full_start, std::int64_t most) {
  Grid grid(Communicator::collective_world(), tests::thread_count(),
            "poisson3d:" + std::to_string(size));
  const SmoothFunction u(size);
  const auto b = grid.filled([&](std::int64_t row) { return u.right_hand_side(row); });
  const auto x = grid.collective_solve(b, has_full_start, most).second;
  double square = 0;
  grid.for_each_point([&](std::size_t i, std::int64_t row) {
    square += (x[i] - u.value(row)) * (x[i] - u.value(row));
  });
  return std::sqrt(grid.communicator.sum(square) / static_cast<double>(size * size * size));
}

TEST_CASE("a polynomial of third order is interpolated exactly") {
  for (spmv::GlobalIndex size = 8; size <= 40; ++size)
    for (spmv::GlobalIndex i = 0; i < size; ++i) {
      const auto terms = CubicTerms<double>::of({size, 1, 1}, true, i);
      const auto value = [&](spmv::GlobalIndex at) {
        const double t = static_cast<double>(at) / static_cast<double>(size);
        return t * t * t - t + 1;
      };
      double sum = 0;
      for (int k = 0; k < terms.count; ++k) {
        CHECK(terms.first + k >= 0);
        CHECK(terms.first + k < size / 2);
        sum += terms.weights.at(static_cast<std::size_t>(k)) * value(2 * (terms.first + k) + 1);
      }
      CAPTURE(size, i);
      CHECK(sum == Approx(value(i)).epsilon(1e-12));
    }
}

TEST_CASE("one full multigrid cycle reaches the error of discretisation, of second order") {
  for (const std::int64_t size : {31, 33, 41}) {
    std::vector<double> errors;
    for (std::int64_t n = size; errors.size() < 2; n = 2 * n + 1) {
      errors.push_back(collective_error(n, true, 1));
      const double of_discretisation = collective_error(n, false, 20);
      CAPTURE(n, errors.back(), of_discretisation);
      CHECK(errors.back() == Approx(of_discretisation).epsilon(0.05));
    }
    CAPTURE(size, errors);
    for (std::size_t i = 0; i + 1 < errors.size(); ++i)
      CHECK(errors[i] / errors[i + 1] == Approx(4).epsilon(0.05));
  }
}

TEST_CASE("the bits of multigrid in single precision do not depend on the unit of b") {
  Grid grid(Communicator::collective_world(), tests::thread_count(), "poisson3d:18x25x40");
  const auto solve = [&](int exponent, bool has_full_start) {
    const auto b = grid.filled([&](std::int64_t row) {
      return std::ldexp(std::sin(static_cast<double>(row)) + 0.25, exponent);
    });
    auto [report, x] = grid.collective_solve(b, has_full_start, 20);
    CHECK(report.status == SolveStatus::converged);
    for (double& value : x) value = std::ldexp(value, -exponent);
    return x;
  };
  for (const bool has_full_start : {false, true})
    for (const int exponent : {-400, -125, 135, 400}) {
      CAPTURE(has_full_start, exponent);
      CHECK(solve(exponent, has_full_start) == solve(0, has_full_start));
    }
}

TEST_CASE("a full start has the same bits on any ranks, and saves iterations") {
  for (const std::string word :
       {"poisson3d:33x40x36", "anisotropic3d:19x24x21,1,1,40", "poisson2d:75x46",
        "poisson3d27:20x17x33", "poisson3d:5x300x2", "poisson3d:3x4x2"}) {
    CAPTURE(word);
    Grid grid(Communicator::collective_world(), tests::thread_count(), word);
    Grid alone(Communicator::self(), 1, word);
    const auto value = [](std::int64_t row) { return std::sin(static_cast<double>(row % 1013)); };
    const auto [report, x] = grid.collective_solve(grid.filled(value), true, 30);
    const auto [expected, whole] = alone.collective_solve(alone.filled(value), true, 30);
    CHECK(report.status == SolveStatus::converged);
    CHECK(report.iterations == expected.iterations);
    CHECK(report.relative_residual == expected.relative_residual);
    std::vector<double> by_row(static_cast<std::size_t>(alone.op.global_row_count()));
    alone.for_each_point([&, &all = whole](std::size_t i, std::int64_t row) {
      by_row[static_cast<std::size_t>(row)] = all[i];
    });
    bool is_equal = true;
    grid.for_each_point([&, &own = x](std::size_t i, std::int64_t row) {
      is_equal = is_equal && own[i] == by_row[static_cast<std::size_t>(row)];
    });
    CHECK(is_equal);
    const auto [double_report, double_x] =
        grid.collective_solve(grid.filled(value), true, 30, true);
    CHECK(double_report.iterations == report.iterations);
    const auto [double_expected, double_whole] =
        alone.collective_solve(alone.filled(value), true, 30, true);
    CHECK(double_report.relative_residual == double_expected.relative_residual);
    CHECK(report.iterations <=
          grid.collective_solve(grid.filled(value), false, 30).first.iterations);
  }
}

}  // namespace
}  // namespace weft::solver
