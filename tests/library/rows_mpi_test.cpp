#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.hpp"
#include "tests/library/tridiagonal.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::tests {
namespace {

constexpr std::int64_t row_count = 5000;

Job make_job() { return Job(MPI_COMM_WORLD, {.threads = thread_count()}); }

/// A number of its own for every row.
double entry(std::int64_t row) { return std::sin(static_cast<double>(row)) + 2; }

std::vector<double> own_vector(const TridiagonalRows& rows) {
  std::vector<double> x;
  for (auto row = rows.first_row; row < rows.end_row; ++row) x.push_back(entry(row));
  return x;
}

/// A·x by the definition, in ascending order of columns.
std::vector<double> reference(const TridiagonalRows& rows) {
  std::vector<double> y;
  for (std::size_t row = 0; row < rows.count(); ++row) {
    double sum = 0;
    for (auto k = static_cast<std::size_t>(rows.offsets[row]);
         k < static_cast<std::size_t>(rows.offsets[row + 1]); ++k)
      sum += rows.values[k] * entry(rows.columns[k]);
    y.push_back(sum);
  }
  return y;
}

TEST_CASE("a matrix of the caller's rows multiplies as they do, wherever they are cut") {
  const Job job = make_job();
  const TridiagonalRows rows(row_count, job.rank(), job.size());
  const Values kept = GENERATE(Values::copied, Values::borrowed);
  const Matrix a = Matrix::from_rows(job, rows.rows(), {}, kept);
  CHECK(a.row_count() == row_count);
  CHECK(a.local_row_count() == std::ssize(rows.offsets) - 1);
  CHECK(a.global_row(0) == rows.first_row);
  std::vector<double> y(rows.count());
  a.multiply(own_vector(rows), y);
  CHECK(y == reference(rows));
}

TEST_CASE("rows in any order with repeated entries are the same matrix") {
  const Job job = make_job();
  const TridiagonalRows rows(row_count, job.rank(), job.size());
  TridiagonalRows shuffled = rows;
  shuffled.offsets = {0};
  shuffled.columns.clear();
  shuffled.values.clear();
  for (std::size_t row = 0; row < rows.count(); ++row) {
    for (auto k = static_cast<std::size_t>(rows.offsets[row + 1]);
         k-- > static_cast<std::size_t>(rows.offsets[row]);)
      for (const double share : {0.25, 0.75}) {
        shuffled.columns.push_back(rows.columns[k]);
        shuffled.values.push_back(share * std::round(rows.values[k] * 1024) / 1024);
      }
    shuffled.offsets.push_back(std::ssize(shuffled.columns));
  }
  TridiagonalRows rounded = rows;
  for (double& value : rounded.values) value = std::round(value * 1024) / 1024;
  Matrix a = Matrix::from_rows(job, shuffled.rows());
  std::vector<double> y(rows.count());
  a.multiply(own_vector(rows), y);
  CHECK(y == reference(rounded));

  for (double& value : shuffled.values) value *= 2;
  for (double& value : rounded.values) value *= 2;
  a.update_values(shuffled.values);
  a.multiply(own_vector(rows), y);
  CHECK(y == reference(rounded));
}

TEST_CASE("other values in the same places are those of a new matrix") {
  const Job job = make_job();
  const Values kept = GENERATE(Values::copied, Values::borrowed);
  TridiagonalRows rows(row_count, job.rank(), job.size());
  Matrix a = Matrix::from_rows(job, rows.rows(), {}, kept);
  const TridiagonalRows others(row_count, job.rank(), job.size(), 6);
  rows.values = others.values;
  a.update_values(rows.values);
  std::vector<double> y(rows.count());
  a.multiply(own_vector(rows), y);
  CHECK(y == reference(others));
  CHECK_THROWS_AS(a.update_values(std::span(rows.values).first(0)), Error);
}

TEST_CASE("what one rank alone asks for, or asks wrongly, is the same error on every rank") {
  const Job job = make_job();
  const bool is_last = job.rank() == job.size() - 1;
  const TridiagonalRows rows(row_count, job.rank(), job.size());
  const Matrix a = Matrix::from_rows(job, rows.rows());
  std::vector<double> b(rows.count(), 1.0);
  CHECK_THROWS_WITH(Solver(a, {{"tolerance", is_last ? "much" : "1e-8"}}),
                    Catch::Contains("option tolerance: found 'much'"));
  CHECK_THROWS_WITH(Matrix::generate(job, is_last ? "poisson2d:x" : "poisson2d:4"),
                    Catch::Contains("poisson2d:x"));
  CHECK_THROWS_WITH(Matrix::stencil(job, {4, 4, is_last ? 0 : 4}), Catch::Contains("0 points"));
  CHECK_THROWS_WITH(a.multiply_block(b, b, is_last ? -1 : 1), Catch::Contains("count: found -1"));
  if (job.size() == 1) return;
  const std::string other = "found other words or options on some ranks";
  CHECK_THROWS_WITH(Solver(a, {{"tolerance", is_last ? "1e-6" : "1e-8"}}),
                    "solver: " + other + "; expected the same on all");
  CHECK_THROWS_WITH(Matrix::generate(job, is_last ? "poisson2d:5" : "poisson2d:4"),
                    Catch::Contains(other));
  CHECK_THROWS_WITH(Matrix::from_rows(job, rows.rows(), {{"format", is_last ? "crs" : "auto"}}),
                    Catch::Contains(other));
}

TEST_CASE("rows that contradict each other are an error with the same text on every rank") {
  const Job job = make_job();
  const bool is_last = job.rank() == job.size() - 1;
  const auto fault_of = [&](const Rows& rows) {
    try {
      Matrix::from_rows(job, rows);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::bad_input);
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  TridiagonalRows rows(row_count, job.rank(), job.size());
  CHECK(fault_of(rows.rows()) == "nothing");
  if (is_last) rows.columns.back() = row_count;
  CHECK(fault_of(rows.rows()).find("expected 0 to 4999") != std::string::npos);
  rows = TridiagonalRows(row_count, job.rank(), job.size());
  if (is_last) ++rows.first_row;
  CHECK(fault_of(rows.rows()).find("found first_row") != std::string::npos);
  rows = TridiagonalRows(row_count, job.rank(), job.size());
  if (is_last) rows.offsets.clear();
  CHECK(fault_of(rows.rows()).find("found no offsets") != std::string::npos);
  rows = TridiagonalRows(row_count, job.rank(), job.size());
  if (is_last) rows.values.pop_back();
  CHECK(fault_of(rows.rows()).find("values; expected") != std::string::npos);
  rows = TridiagonalRows(row_count, job.rank(), job.size());
  const Matrix a = Matrix::from_rows(job, rows.rows());
  if (is_last) rows.values.back() = std::numeric_limits<double>::quiet_NaN();
  CHECK_THAT(fault_of(rows.rows()), Catch::EndsWith("= nan; expected a finite number"));
  CHECK_THROWS_WITH(Matrix(a).update_values(rows.values), Catch::Contains("= nan; expected"));
  if (is_last) rows.values.back() = -std::numeric_limits<double>::infinity();
  CHECK_THAT(fault_of(rows.rows()), Catch::EndsWith("= -inf; expected a finite number"));

  std::vector<double> b(rows.count(), 1.0);
  std::vector<double> x(rows.count());
  if (is_last) b.back() = std::numeric_limits<double>::quiet_NaN();
  for (const char* const method : {"cg", "gmres", "bicgstab", "minres", "auto"}) {
    INFO(method);
    const Report report = Solver(a, {{"method", method}}).solve(b, x);
    CHECK(report.status == Status::breakdown);
    CHECK(report.iterations < 3);
  }
}

}  // namespace
}  // namespace weft::tests
