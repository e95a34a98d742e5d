// Several right-hand sides at once have the bits of each alone.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.hpp"
#include "tests/library/tridiagonal.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::tests {
namespace {

Job make_job() { return Job(MPI_COMM_WORLD, {.threads = thread_count()}); }

/// Column `v` of a block of `count` vectors.
std::vector<double> column(const std::vector<double>& block, int v, int count) {
  std::vector<double> values;
  for (std::size_t i = static_cast<std::size_t>(v); i < block.size();
       i += static_cast<std::size_t>(count))
    values.push_back(block[i]);
  return values;
}

/// Entries of two vectors whose bits differ.
int differences(const std::vector<double>& a, const std::vector<double>& b) {
  int count = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i])) ++count;
  return count;
}

/// A block of right-hand sides that take different numbers of iterations; the second is zero.
std::vector<double> make_block(const Matrix& a, int count) {
  const auto n = static_cast<std::size_t>(a.local_row_count());
  std::vector<double> block(n * static_cast<std::size_t>(count));
  for (int v = 0; v < count; ++v) {
    if (v == 1) continue;
    const auto b = a.right_hand_side(v == 2 ? "ones" : "random:" + std::to_string(v + 1));
    const double scale = v % 3 == 0 ? 1 : 1e-3 * (v + 1);
    for (std::size_t i = 0; i < n; ++i)
      block[i * static_cast<std::size_t>(count) + static_cast<std::size_t>(v)] =
          v == 4 && a.global_row(static_cast<std::int64_t>(i)) > 9 ? 0 : scale * b[i];
  }
  return block;
}

void check_solves(const Matrix& a, const Options& options, int count) {
  Solver solver(a, options);
  const std::vector<double> b = make_block(a, count);
  std::vector<double> x(b.size());
  const auto reports = solver.solve_block(b, x, count);
  CHECK(reports.size() == static_cast<std::size_t>(count));
  std::vector<double> again = x;
  for (double& value : again) value *= 1 + 1e-5;
  const std::vector<double> guesses = again;
  const auto near = solver.solve_block(b, again, count, Start::from_guess);
  Solver single(a, options);
  for (int v = 0; v < count; ++v) {
    INFO("vector " << v << " of " << count);
    const auto index = static_cast<std::size_t>(v);
    std::vector<double> alone(static_cast<std::size_t>(a.local_row_count()));
    const Report report = single.solve(column(b, v, count), alone);
    CHECK(differences(column(x, v, count), alone) == 0);
    CHECK(reports[index].iterations == report.iterations);
    CHECK(reports[index].status == report.status);
    CHECK(reports[index].restarts == report.restarts);
    CHECK(reports[index].relative_residual == report.relative_residual);
    CHECK(reports[index].history == report.history);
    alone = column(guesses, v, count);
    const Report from_guess = single.solve(column(b, v, count), alone, Start::from_guess);
    CHECK(differences(column(again, v, count), alone) == 0);
    CHECK(near[index].iterations == from_guess.iterations);
  }
}

TEST_CASE("a block of right-hand sides has the bits and iterations of each alone") {
  const Job job = make_job();
  for (const char* const format : {"crs", "auto"}) {
    const Matrix a = Matrix::generate(job, "poisson2d:20", {{"format", format}});
    check_solves(a, {{"history", "true"}}, 8);
    for (const int count : {1, 2, 7}) check_solves(a, {}, count);
    check_solves(a, {{"mode", std::string(format) == "crs" ? "vector" : "overlap"}}, 3);
  }
  const Matrix a = Matrix::generate(job, "poisson2d:40", {{"format", "crs"}});
  check_solves(a, {{"mode", "overlap-test"}}, 3);
  for (const char* const preconditioner : {"jacobi", "amg"}) {
    INFO(preconditioner);
    check_solves(a, {{"preconditioner", preconditioner}, {"history", "true"}}, 5);
  }
}

/// The solutions for `b` of a solver that may have solved before.
std::vector<double> solve_block(Solver& solver, const std::vector<double>& b, int count) {
  std::vector<double> x(b.size());
  for (const Report& report : solver.solve_block(b, x, count))
    CHECK(report.status == Status::converged);
  return x;
}

TEST_CASE("vectors of a block may differ in size by any factor, and none disturbs another") {
  const Job job = make_job();
  const Matrix a = Matrix::generate(job, "diffusion3d:9,jumps:10", {{"format", "crs"}});
  const std::vector<double> powers{-70, 70, 0, -300, 500, -1000, 3, 1000};
  const auto count = static_cast<int>(powers.size());
  const std::vector<double> block = make_block(a, count);
  for (const char* const preconditioner : {"none", "jacobi", "amg", "multigrid", "isai"}) {
    INFO(preconditioner);
    const Options options{{"method", "cg"}, {"preconditioner", preconditioner}};
    std::vector<double> b = block;
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = std::ldexp(b[i], static_cast<int>(powers[i % powers.size()]));
    Solver fresh(a, options);
    const std::vector<double> expected = solve_block(fresh, block, count);
    Solver solver(a, options);
    std::vector<double> x = solve_block(solver, b, count);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = std::ldexp(x[i], -static_cast<int>(powers[i % powers.size()]));
    CHECK(differences(x, expected) == 0);
    CHECK(differences(solve_block(solver, block, count), expected) == 0);

    // A solve before, of another size, leaves nothing behind; nor does an application of M alone.
    std::vector<double> huge = column(block, 0, count);
    for (double& value : huge) value *= 1e40;
    std::vector<double> alone(huge.size());
    solver.solve(huge, alone);
    CHECK(differences(solve_block(solver, block, count), expected) == 0);
    std::vector<double> z(huge.size());
    solver.precondition(column(block, 0, count), z);
    solver.precondition(huge, alone);
    for (double& value : alone) value /= 1e40;
    for (std::size_t i = 0; i < z.size(); ++i) CHECK(alone[i] == Approx(z[i]).epsilon(1e-5));
  }
}

TEST_CASE("a value in one vector that is no number changes no other vector") {
  const Job job = make_job();
  const Matrix a = Matrix::generate(job, "poisson2d:20", {{"format", "crs"}});
  for (const char* const preconditioner : {"none", "amg"}) {
    Solver solver(a, {{"preconditioner", preconditioner}});
    std::vector<double> b = make_block(a, 4);
    const std::vector<double> expected = solve_block(solver, b, 4);
    if (!b.empty()) b[2] = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> x(b.size());
    const auto reports = solver.solve_block(b, x, 4);
    CHECK(reports[2].status == Status::breakdown);
    CHECK_THAT(reports[2].explanation, Catch::Contains("not finite"));
    for (const int v : {0, 1, 3}) {
      CHECK(reports[static_cast<std::size_t>(v)].status == Status::converged);
      CHECK(differences(column(x, v, 4), column(expected, v, 4)) == 0);
    }
  }
}

TEST_CASE("a block has the same bits while forms of storage are tried, and after that") {
  const Job job = make_job();
  const Options sixty{{"tolerance", "1e-30"}, {"max-iterations", "60"}};
  for (const int count : {2, 4, 8}) {
    INFO(count << " vectors");
    const Matrix a = Matrix::generate(job, "irregular:6000");
    check_solves(a, sixty, count);
    std::vector<double> b = make_block(a, count);
    std::vector<double> x(b.size());
    const auto seconds = Solver(a, sixty).solve_block(b, x, count).front().product_seconds;
    CHECK(seconds.size() == 4);
    CHECK(seconds.back().first == "SELL-8, " + std::to_string(count) + " vectors");
  }
  const Matrix a = Matrix::generate(job, "irregular:6000");
  for (int product = 0; product < 45; ++product) {
    const std::vector<double> x = make_block(a, 8);
    std::vector<double> y(x.size());
    a.multiply_block(x, y, 8);
    std::vector<double> alone(static_cast<std::size_t>(a.local_row_count()));
    a.multiply(column(x, 3, 8), alone);
    CHECK(differences(column(y, 3, 8), alone) == 0);
  }
}

TEST_CASE("a block is solved where the method, the matrix or the rows allow no block, too") {
  const Job job = make_job();
  const Matrix a = Matrix::generate(job, "poisson2d:20");
  for (const char* const method : {"gmres", "cg-pipelined"})
    check_solves(a, {{"method", method}}, 3);
  // Where no grid is known no trial chooses, whose outcome depends on time.
  check_solves(Matrix::generate(job, "irregular:2000"), {{"method", "auto"}}, 3);
  check_solves(Matrix::generate(job, "poisson3d:9", {{"operator", "stencil"}}), {}, 3);
  const TridiagonalRows rows(3000, job.rank(), job.size());
  check_solves(Matrix::from_rows(job, rows.rows()), {{"preconditioner", "jacobi"}}, 5);
  check_solves(Matrix::generate(job, "irregular:2000", {{"order", "rcm"}}), {}, 4);
}

TEST_CASE("a block ends as each alone does at the limit, and where the tolerance is out of reach") {
  const Job job = make_job();
  const Matrix a = Matrix::generate(job, "poisson2d:20", {{"format", "crs"}});
  check_solves(a, {{"max-iterations", "7"}}, 4);
  check_solves(a, {{"max-iterations", "0"}}, 2);
  check_solves(a, {{"tolerance", "1e-16"}}, 5);
  check_solves(a, {{"divergence", "1.0001"}}, 4);
}

TEST_CASE("products with several vectors have the bits of each alone") {
  const Job job = make_job();
  const TridiagonalRows rows(3000, job.rank(), job.size());
  for (const Matrix& a :
       {Matrix::generate(job, "poisson3d:17", {{"format", "crs"}}),
        Matrix::generate(job, "poisson3d:17"), Matrix::generate(job, "irregular:3000"),
        Matrix::generate(job, "poisson3d:9", {{"operator", "stencil"}}),
        Matrix::from_rows(job, rows.rows())}) {
    for (const int count : {1, 2, 3, 4, 8, 13}) {
      INFO(a.format() << ", " << count << " vectors");
      const std::vector<double> x = make_block(a, count);
      std::vector<double> y(x.size());
      a.multiply_block(x, y, count);
      for (int v = 0; v < count; ++v) {
        std::vector<double> alone(static_cast<std::size_t>(a.local_row_count()));
        a.multiply(column(x, v, count), alone);
        CHECK(differences(column(y, v, count), alone) == 0);
      }
    }
  }
}

TEST_CASE("a block of another shape is an error") {
  const Job job = make_job();
  const Matrix a = Matrix::generate(job, "poisson2d:10");
  std::vector<double> x(static_cast<std::size_t>(a.local_row_count()) * 3);
  Solver solver(a);
  CHECK_THROWS_AS(solver.solve_block(x, x, 2), Error);
  CHECK_THROWS_AS(solver.solve_block(x, x, 0), Error);
  CHECK_THROWS_AS(a.multiply_block(x, x, 4), Error);
}

}  // namespace
}  // namespace weft::tests
