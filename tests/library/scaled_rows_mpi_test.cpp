// Matrices whose rows differ in scale: weft::Solver solves for all of them, or says so.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.hpp"
#include "tests/library/grid_rows.h"
#include "tests/support/mpi_main.h"

namespace weft::tests {
namespace {

constexpr std::int64_t side = 60;

/// The solution of a PenaltySystem: row + column of the point.
double solution_at(std::int64_t row) {
  const std::int64_t distance = row / side + row % side;
  return static_cast<double>(distance);
}
bool is_on_rim(std::int64_t row) {
  const std::int64_t x = row % side;
  const std::int64_t y = row / side;
  return x == 0 || y == 0 || x == side - 1 || y == side - 1;
}

/// Penalties of 1e8 to 1e30.
double mixed_penalty(std::int64_t row) { return std::pow(10.0, 8 + static_cast<double>(row % 23)); }

/// Rows of a grid, with penalties that set the solution on the rim.
struct PenaltySystem {
  PenaltySystem(const Job& job, const std::function<double(std::int64_t)>& penalty,
                double (*entry)(std::int64_t, std::int64_t))
      : rows(job, side, [&](std::int64_t i, std::int64_t j) {
          return entry(i, j) + (i == j && is_on_rim(i) ? penalty(i) : 0);
        }) {
    for (std::size_t k = 0; k + 1 < rows.offsets.size(); ++k) {
      const std::int64_t i = rows.first_row + static_cast<std::int64_t>(k);
      double sum = 0;
      for (auto n = rows.offsets[k]; n < rows.offsets[k + 1]; ++n)
        sum += rows.values[static_cast<std::size_t>(n)] *
               solution_at(rows.columns[static_cast<std::size_t>(n)]);
      b.push_back(is_on_rim(i) ? penalty(i) * solution_at(i) : sum);
    }
  }
  double error(const std::vector<double>& x) const {
    double largest = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double wanted = solution_at(rows.first_row + static_cast<std::int64_t>(k));
      largest = std::max(largest, std::abs(x[k] - wanted) / (2.0 * side));
    }
    return largest;
  }
  GridRows rows;
  std::vector<double> b;
};

TEST_CASE("auto solves for all rows where penalties set some") {
  const Job job = make_job();
  const std::vector<std::function<double(std::int64_t)>> penalties{
      [](std::int64_t) { return 1e8; }, [](std::int64_t) { return 1e30; }, mixed_penalty};
  for (const auto& penalty : penalties)
    for (auto* const entry : {laplacian, convection}) {
      const PenaltySystem system(job, penalty, entry);
      const Matrix a = Matrix::from_rows(job, system.rows.rows());
      Solver solver(a, {{"method", "auto"}});
      std::vector<double> x(system.b.size());
      Report report = solver.solve(system.b, x);
      CHECK(report.converged());
      CHECK(system.error(x) < 1e-5);
      CHECK(report.relative_residual < 1.1e-8);
      REQUIRE(report.scaled_residual.has_value());
      CHECK(*report.scaled_residual < 1e-8);
      CHECK(report.decisions.front().find("are scaled by powers of two") != std::string::npos);
      // From there nothing is left to do.
      report = solver.solve(system.b, x, Start::from_guess);
      CHECK(report.converged());
      CHECK(report.iterations == 0);
      std::vector<double> pair;
      for (const double value : system.b) pair.insert(pair.end(), {value, 2 * value});
      std::vector<double> both(pair.size());
      for (const Report& of_one : solver.solve_block(pair, both, 2)) CHECK(of_one.converged());
      for (std::size_t k = 0; k < x.size(); ++k) CHECK(both[2 * k + 1] == 2 * both[2 * k]);
    }
}

TEST_CASE("a named method says that its residual tells nothing of most rows") {
  const Job job = make_job();
  const PenaltySystem system(job, mixed_penalty, laplacian);
  const Matrix a = Matrix::from_rows(job, system.rows.rows());
  std::vector<double> x(system.b.size());
  for (const char* const preconditioner : {"jacobi", "amg"}) {
    Options options{{"method", "cg"}, {"preconditioner", preconditioner}};
    const Report report = Solver(a, options).solve(system.b, x);
    CHECK(report.status == Status::not_converged);
    CHECK(report.relative_residual < 1.1e-8);
    CHECK(report.explanation.find("says nothing about most rows") != std::string::npos);
    CHECK(report.scaled_residual.value_or(0) > 1e-3);
    CHECK(system.error(x) > 0.01);
    for (const Report& of_one : Solver(a, options).solve_block(system.b, x, 1))
      CHECK(of_one.status == Status::not_converged);
    options.set("scale", "rows");
    CHECK(Solver(a, options).solve(system.b, x).converged());
    CHECK(system.error(x) < 1e-5);
  }
  CHECK(fault_of(a, {{"method", "cg"}, {"scale", "rows"}, {"reuse-preconditioner", "1"}})
            .find("scale=rows") != std::string::npos);
  // One factorization solves for all rows, scaled or not.
  const Report direct = Solver(a, {{"method", "auto"}, {"scale", "none"}}).solve(system.b, x);
  CHECK(direct.converged());
  CHECK(direct.explanation.empty());
  CHECK(direct.scaled_residual.value_or(1) < 1e-8);
}

/// Rows of a convection, each of another scale from 2^-30 to 2^30.
double many_scales(std::int64_t i, std::int64_t j) {
  return std::ldexp(convection(i, j), static_cast<int>(i * 37 % 61) - 30);
}

TEST_CASE("where rows of an unsymmetric matrix have many scales, x is right in each") {
  const Job job = make_job();
  const GridRows rows(job, side, many_scales);
  const Matrix a = Matrix::from_rows(job, rows.rows());
  std::vector<double> b(rows.offsets.size() - 1);
  for (std::size_t k = 0; k < b.size(); ++k)
    for (auto n = rows.offsets[k]; n < rows.offsets[k + 1]; ++n)
      b[k] += rows.values[static_cast<std::size_t>(n)];
  std::vector<double> x(b.size());
  for (const char* const method : {"auto", "gmres", "bicgstab"}) {
    INFO(method);
    Options options{{"method", method}, {"scale", "rows"}};
    if (std::string(method) != "auto") options.set("preconditioner", "none");
    CHECK(Solver(a, options).solve(b, x).converged());
    double error = 0;
    for (const double value : x) error = std::max(error, std::abs(value - 1));
    CHECK(error < 1e-6);
  }
}

TEST_CASE("a named method has converged where each row has, and the rest is rounding") {
  const Job job = make_job();
  const auto layered = [](std::int64_t i, std::int64_t j) {
    return std::ldexp(convection(i, j), static_cast<int>(i * 4 / (side * side)) * 10);
  };
  const GridRows rows(job, side, layered);
  const Matrix a = Matrix::from_rows(job, rows.rows());
  std::vector<double> x(rows.offsets.size() - 1);
  const std::vector<double> b(x.size(), 1.0);
  const Report report = Solver(a, {{"method", "gmres"}, {"preconditioner", "ilu0"}}).solve(b, x);
  CHECK(report.converged());
  CHECK(report.explanation.find("the residual is rounding") != std::string::npos);
  CHECK(report.relative_residual > 1e-8);
  CHECK(report.scaled_residual.value_or(1) < 1.1e-8);
}

/// Neighbours in layers of ten rows of points that conduct well and badly in turn.
double layers(std::int64_t i, std::int64_t j) {
  const auto of_layer = [](std::int64_t row) { return row / side / 10 % 2 == 0 ? 1.0 : 1e9; };
  const auto between = [&](std::int64_t a, std::int64_t b) {
    return 2 / (1 / of_layer(a) + 1 / of_layer(b));
  };
  if (i != j) return -between(i, j);
  const std::int64_t last = side * side;
  double sum = 0;
  for (const std::int64_t to : {i - side, i - 1, i + 1, i + side})
    sum += between(i, std::clamp<std::int64_t>(to, 0, last - 1));
  return sum;
}

TEST_CASE("coefficients that jump are solved for to what is asked, and no further") {
  const Job job = make_job();
  const GridRows rows(job, side, layers);
  const Matrix a = Matrix::from_rows(job, rows.rows());
  std::vector<double> b(rows.offsets.size() - 1, 1.0);
  std::vector<double> x(b.size());
  Options options{{"method", "cg"}, {"preconditioner", "jacobi"}, {"scale", "none"}};
  const Report given = Solver(a, options).solve(b, x);
  CHECK(given.converged());
  options.set("scale", "rows");
  const Report scaled = Solver(a, options).solve(b, x);
  CHECK(scaled.converged());
  CHECK(scaled.relative_residual < 1.1e-8);
  CHECK(scaled.relative_residual > 1e-11);
  CHECK(5 * scaled.iterations < 8 * given.iterations);
  // A residual below an absolute tolerance is enough; before, each run was ended by it.
  options.set("tolerance", "0");
  options.set("absolute-tolerance", "1e-6");
  const Report absolute = Solver(a, options).solve(b, x);
  CHECK(absolute.converged());
  double square = 0;
  for (std::size_t k = 0; k < b.size(); ++k) square += b[k] * b[k];
  MPI_Allreduce(MPI_IN_PLACE, &square, 1, MPI_DOUBLE, MPI_SUM, job.communicator());
  CHECK(absolute.relative_residual * std::sqrt(square) < 1.1e-6);
}

TEST_CASE("new values with and without penalties are looked at again") {
  const Job job = make_job();
  const PenaltySystem system(job, mixed_penalty, laplacian);
  const PenaltySystem plain(job, [](std::int64_t) { return 1.0; }, laplacian);
  Matrix a = Matrix::from_rows(job, plain.rows.rows());
  Solver solver(a, {{"method", "auto"}});
  std::vector<double> x(system.b.size());
  const Report before = solver.solve(plain.b, x);
  CHECK(before.converged());
  CHECK(!before.scaled_residual.has_value());
  const std::vector<double> wanted = x;
  a.update_values(system.rows.values);
  CHECK(solver.solve(system.b, x).converged());
  CHECK(system.error(x) < 1e-5);
  a.update_values(plain.rows.values);
  const Report after = solver.solve(plain.b, x);
  CHECK(after.iterations == before.iterations);
  CHECK(!after.scaled_residual.has_value());
  CHECK(x == wanted);
}

}  // namespace
}  // namespace weft::tests
