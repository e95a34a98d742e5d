#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.hpp"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::tests {
namespace {

Job eigen_job() { return Job(MPI_COMM_WORLD, {.threads = thread_count()}); }

/// Those of the 5-point stencil on a square of points, ascending.
std::vector<double> eigenvalues_of_square(int points) {
  std::vector<double> values;
  for (int i = 1; i <= points; ++i)
    for (int k = 1; k <= points; ++k)
      values.push_back(4 - 2 * std::cos(std::numbers::pi * i / (points + 1)) -
                       2 * std::cos(std::numbers::pi * k / (points + 1)));
  std::sort(values.begin(), values.end());
  return values;
}

/// The norms of A·x − θ·x and of x, by weft's own product.
double residual_norm(const Matrix& a, const Eigenvalues& found, std::size_t number) {
  const std::size_t count = found.values.size();
  const auto rows = static_cast<std::size_t>(a.local_row_count());
  std::vector<double> x(rows);
  for (std::size_t row = 0; row < rows; ++row) x[row] = found.vectors[row * count + number];
  std::vector<double> y(rows);
  a.multiply(x, y);
  double sums[2] = {0, 0};
  for (std::size_t row = 0; row < rows; ++row) {
    sums[0] += std::pow(y[row] - found.values[number] * x[row], 2);
    sums[1] += x[row] * x[row];
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  CHECK(std::sqrt(sums[1]) == Approx(1).epsilon(1e-12));
  return std::sqrt(sums[0]);
}

TEST_CASE(
    "eigenvalues at both ends are found with their copies and vectors, in any order of rows") {
  const Job job = eigen_job();
  const std::vector<double> all = eigenvalues_of_square(30);
  for (const char* const order : {"given", "rcm"}) {
    const Matrix a = Matrix::generate(job, "poisson2d:30", {{"order", order}});
    for (const std::string which : {"smallest", "largest"}) {
      const Eigenvalues found = eigenvalues(
          a, {{"count", "5"}, {"which", which}, {"tolerance", "1e-10"}}, Eigenvectors::own_rows);
      CHECK(found.converged());
      CHECK(found.products > 0);
      CHECK(found.is_complete);
      CHECK(found.statement.starts_with("complete: "));
      CHECK(found.error_bounds.size() == 5);
      CHECK(found.missing == 0);
      CHECK(found.norm == Approx(8).epsilon(0.05));
      REQUIRE(found.values.size() == 5);
      REQUIRE(found.vectors.size() == static_cast<std::size_t>(a.local_row_count()) * 5);
      for (std::size_t i = 0; i < 5; ++i) {
        CHECK(found.values[i] ==
              Approx(which == "smallest" ? all[i] : all[all.size() - 1 - i]).epsilon(1e-10));
        CHECK(found.residuals[i] <= 1e-10 * found.norm);
        CHECK(std::abs(residual_norm(a, found, i) - found.residuals[i]) < 1e-13);
      }
    }
  }
}

TEST_CASE("a search by lanczos begins with vectors in memory, at most as many as a block has") {
  const Job job = eigen_job();
  const Matrix a = Matrix::generate(job, "poisson2d:40");
  const Options options{{"count", "4"}, {"method", "lanczos"}};
  const Eigenvalues found = eigenvalues(a, options, Eigenvectors::own_rows);
  const EigenInput input{.start = found.vectors, .start_count = 4};
  const Eigenvalues again = eigenvalues(a, options, Eigenvectors::none, input);
  CHECK(again.converged());
  CHECK(2 * again.products < found.products + 400);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(again.values[i] == Approx(found.values[i]).epsilon(1e-7));
  CHECK_THROWS_WITH(eigenvalues(a, {{"count", "4"}, {"method", "lanczos"}, {"block", "2"}},
                                Eigenvectors::none, input),
                    Catch::Contains("start: found 4 vectors; expected at most 2"));
}

TEST_CASE("eigenvalues in an interval are found with vectors, and one without any is refused") {
  const Job job = eigen_job();
  const Matrix a = Matrix::generate(job, "poisson2d:30");
  std::vector<double> expected;
  for (const double value : eigenvalues_of_square(30))
    if (value >= 2.5 && value <= 2.6) expected.push_back(value);
  const Eigenvalues found =
      eigenvalues(a, {{"interval", "2.5:2.6"}, {"tolerance", "1e-10"}}, Eigenvectors::own_rows);
  CHECK(found.converged());
  CHECK(found.is_complete);
  REQUIRE(found.values.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(found.values[i] == Approx(expected[i]).epsilon(1e-10));
    CHECK(std::abs(residual_norm(a, found, i) - found.residuals[i]) < 1e-13);
  }
  CHECK_THROWS_WITH(eigenvalues(a, {{"interval", "9:10"}}), Catch::Contains("found no eigenvalue"));
}

/// A tridiagonal matrix, 2 and −1, with rows cut between ranks where no block ends.
Matrix line_of(const Job& job, std::int64_t count) {
  const std::int64_t first = count * job.rank() / job.size();
  const std::int64_t end = count * (job.rank() + 1) / job.size();
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int64_t> columns;
  std::vector<double> values;
  for (std::int64_t row = first; row < end; ++row) {
    for (std::int64_t column = std::max<std::int64_t>(0, row - 1);
         column <= std::min(count - 1, row + 1); ++column) {
      columns.push_back(column);
      values.push_back(column == row ? 2 : -1);
    }
    offsets.push_back(static_cast<std::int64_t>(columns.size()));
  }
  return Matrix::from_rows(
      job, {.first_row = first, .offsets = offsets, .columns = columns, .values = values});
}

TEST_CASE("values and vectors have the bits of a single rank") {
  constexpr std::int64_t count = 1001;
  const Job job = eigen_job();
  const Matrix a = line_of(job, count);
  const Options options{{"count", "3"}, {"block", "2"}, {"mode", "vector"}};
  const Eigenvalues found = eigenvalues(a, options, Eigenvectors::own_rows);
  CHECK(found.values[1] ==
        Approx(2 - 2 * std::cos(2 * std::numbers::pi / (count + 1))).epsilon(1e-6));
  const Job own_job(MPI_COMM_SELF, {.threads = 1});
  const Eigenvalues alone = eigenvalues(line_of(own_job, count), {{"count", "3"}, {"block", "2"}},
                                        Eigenvectors::own_rows);
  CHECK(found.values == alone.values);
  CHECK(found.residuals == alone.residuals);
  CHECK(found.products == alone.products);
  const auto first = static_cast<std::ptrdiff_t>(3 * a.global_row(0));
  CHECK(std::equal(found.vectors.begin(), found.vectors.end(), alone.vectors.begin() + first));
}

TEST_CASE("a search that is not done says so, and one without vectors gives none") {
  const Job job = eigen_job();
  const Eigenvalues found =
      eigenvalues(Matrix::generate(job, "poisson2d:40"),
                  {{"count", "3"}, {"max-restarts", "0"}, {"tolerance", "1e-14"}});
  CHECK(found.status == Status::not_converged);
  CHECK(found.values.size() == 3);
  CHECK(found.vectors.empty());
}

TEST_CASE("a search refuses wrong options and matrices on all ranks") {
  const Job job = eigen_job();
  const Matrix a = Matrix::generate(job, "poisson2d:20");
  CHECK_THROWS_WITH(eigenvalues(a, {{"counts", "3"}}),
                    Catch::StartsWith("option counts: found an unknown name; expected count, "));
  CHECK_THROWS_WITH(eigenvalues(a, {{"tolerance", "2"}}),
                    "option tolerance: found '2'; expected 1e-14 to 1");
  CHECK_THROWS_WITH(eigenvalues(a, {{"count", "401"}}),
                    "count: found 401; expected 1 to 50 for a matrix of 400 rows");
  const Matrix small = Matrix::generate(job, "poisson2d:2");
  CHECK_THROWS_WITH(eigenvalues(small, {{"count", "5"}}),
                    "count: found 5; expected 1 to 4 for a matrix of 4 rows");
  CHECK(eigenvalues(small, {{"count", "4"}}).values[3] == Approx(6));
  CHECK_THROWS_WITH(eigenvalues(Matrix::generate(job, "convection3d:5,9,0,0")),
                    Catch::Contains("expected a symmetric matrix"));
  CHECK_THROWS_WITH(eigenvalues(Matrix::generate(job, "poisson3d:5", {{"operator", "stencil"}})),
                    Catch::Contains("expected a stored matrix"));
  if (job.size() > 1) {
    const Options differing{{job.rank() == 0 ? "count" : "coun", "2"}};
    CHECK_THROWS_AS(eigenvalues(a, differing), Error);
    CHECK_THROWS_AS(eigenvalues(a, {{"count", job.rank() == 0 ? "2" : "3"}}), Error);
  }
}

}  // namespace
}  // namespace weft::tests
