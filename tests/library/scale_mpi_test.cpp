// A system times any power of two has the same iterations and the same digits of x.
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "library/include/weft/weft.hpp"
#include "tests/library/tridiagonal.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::tests {
namespace {

using Vector = std::vector<double>;

constexpr std::int64_t row_count = 300;

Job make_job() { return Job(MPI_COMM_WORLD, {.threads = thread_count()}); }

Vector times(Vector v, int exponent) {
  for (double& value : v) value = std::ldexp(value, exponent);
  return v;
}

/// Values that are 2^exponent times those of TridiagonalRows; `skew`: those behind the diagonal are
/// larger than those before it.
TridiagonalRows rows_times(const Job& job, int exponent, bool skew) {
  TridiagonalRows rows(row_count, job.rank(), job.size(), skew ? 6.5 : 4.5);
  for (std::size_t row = 0; row < rows.count(); ++row)
    for (auto k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const bool is_behind = rows.columns[i] > rows.first_row + static_cast<std::int64_t>(row);
      rows.values[i] =
          std::ldexp(skew && is_behind ? 1.5 * rows.values[i] : rows.values[i], exponent);
    }
  return rows;
}

struct Solved {
  Report report;
  Vector x;
};

/// `vector`: of the rows of this rank, the same on any ranks.
Vector some_vector(const TridiagonalRows& rows, double phase) {
  Vector b;
  for (std::int64_t row = rows.first_row; row < rows.end_row; ++row)
    b.push_back(std::sin(phase + static_cast<double>(row)));
  return b;
}

/// Of A and b times powers of two, and a guess that fits, where there is one.
Solved solve_times(const Job& job, int of_matrix, int of_b, bool skew, bool has_guess,
                   const Options& options) {
  const TridiagonalRows rows = rows_times(job, of_matrix, skew);
  Solver solver(Matrix::from_rows(job, rows.rows()), options);
  const Vector b = times(some_vector(rows, 1), of_b);
  Vector x = times(some_vector(rows, 2), of_b - of_matrix);
  Report report = solver.solve(b, x, has_guess ? Start::from_guess : Start::from_zero);
  return {std::move(report), std::move(x)};
}

int differences(const Vector& a, const Vector& b) {
  int count = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i])) ++count;
  return count;
}

struct Way {
  std::string method;
  std::string preconditioner;
  bool needs_symmetry;
};

TEST_CASE("A and b times powers of two have the same iterations and digits of x") {
  const Job job = make_job();
  const std::vector<Way> ways{
      {"cg", "none", true},
      {"cg", "amg", true},
      {"cg", "isai", true},
      {"cg-one-reduction", "jacobi", true},
      {"cg-pipelined", "jacobi", true},
      {"cg-pipelined-pr", "none", true},
      {"minres", "jacobi", true},
      {"fcg", "amg:cycle=W", true},
      {"cg", "schwarz:subdomains=3,partition=rows", true},
      {"gmres", "none", false},
      {"fgmres", "ilu0", false},
      {"gmres", "block-lu:subdomains=2", false},
      {"bicgstab", "jacobi", false},
      {"bicgstab-pipelined", "none", false},
      {"auto", "", false},
  };
  struct Powers {
    int matrix;
    int b;
  };
  for (const Way& way : ways)
    for (const bool has_guess : {false, true}) {
      CAPTURE(way.method, way.preconditioner, has_guess);
      const Options options =
          way.preconditioner.empty()
              ? Options{{"method", way.method}}
              : Options{{"method", way.method}, {"preconditioner", way.preconditioner}};
      const bool skew = !way.needs_symmetry;
      const Solved expected = solve_times(job, 0, 0, skew, has_guess, options);
      CHECK(expected.report.status == Status::converged);
      for (const auto& [matrix, b] :
           std::vector<Powers>{{0, -530}, {0, 900}, {-900, -1000}, {700, 3}, {40, 2}}) {
        CAPTURE(matrix, b);
        const Solved found = solve_times(job, matrix, b, skew, has_guess, options);
        CHECK(found.report.status == Status::converged);
        CHECK(found.report.iterations == expected.report.iterations);
        CHECK(found.report.relative_residual == expected.report.relative_residual);
        CHECK(differences(found.x, times(expected.x, b - matrix)) == 0);
      }
    }
}

TEST_CASE("an absolute tolerance is one of the system as given, also without a relative one") {
  const Job job = make_job();
  for (const int power : {0, -400, 700}) {
    CAPTURE(power);
    const auto solve = [&](const std::string& relative, double absolute) {
      return solve_times(
                 job, power, power, false, false,
                 {{"method", "cg"},
                  {"tolerance", relative},
                  {"absolute-tolerance", fmt::format("{:.17g}", std::ldexp(absolute, power))}})
          .report;
    };
    const Report coarse = solve("0", 1e-3);
    const Report fine = solve("0", 1e-9);
    CHECK(coarse.status == Status::converged);
    CHECK(fine.status == Status::converged);
    CHECK(coarse.iterations < fine.iterations);
    CHECK(solve("1e-20", 1e-3).iterations == coarse.iterations);
    CHECK(solve("0", 1e3).iterations == 0);
  }
}

TEST_CASE("x that no double holds is told") {
  const Job job = make_job();
  struct Case {
    int matrix;
    int b;
    std::string told;
  };
  for (const auto& [matrix, b, told] : std::vector<Case>{
           {-600, 600, "above 1.8e308"}, {600, -600, "below 2.2e-308"}, {0, -1060, ""}}) {
    CAPTURE(matrix, b);
    const Solved found = solve_times(job, matrix, b, false, false, {{"method", "cg"}});
    if (told.empty()) {  // some digits are left
      CHECK(found.report.relative_residual > 1e-8);
    } else {
      CHECK_THAT(found.report.explanation, Catch::Contains(told));
    }
    CHECK(found.report.status == Status::breakdown);
  }
}

TEST_CASE("new values may be of another size, and the old preconditioner may stay") {
  const Job job = make_job();
  for (const bool reuses : {false, true}) {
    CAPTURE(reuses);
    const TridiagonalRows rows = rows_times(job, 0, false);
    Matrix matrix = Matrix::from_rows(job, rows.rows());
    Solver solver(matrix, {{"method", "cg"},
                           {"preconditioner", "amg"},
                           {"reuse-preconditioner", reuses ? "true" : "false"}});
    const Vector b = some_vector(rows, 1);
    Vector expected(b.size());
    CHECK(solver.solve(b, expected).status == Status::converged);
    for (const int power : {-800, 900, 60, 0}) {
      CAPTURE(power);
      matrix.update_values(rows_times(job, power, false).values);
      Vector x(b.size());
      CHECK(solver.solve(times(b, power), x).status == Status::converged);
      for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == Approx(expected[i]).epsilon(1e-6));
      Vector product(b.size());
      matrix.multiply(x, product);  // of the matrix as given
      for (std::size_t i = 0; i < x.size(); ++i)
        CHECK(std::ldexp(product[i], -power) == Approx(b[i]).margin(1e-6));
    }
  }
}

TEST_CASE("a preconditioner is applied as one of the matrix as given") {
  const Job job = make_job();
  const auto precondition = [&](int power, const std::string& word) {
    const TridiagonalRows rows = rows_times(job, power, false);
    Solver solver(Matrix::from_rows(job, rows.rows()), {{"preconditioner", word}});
    const Vector r = some_vector(rows, 1);
    Vector z(r.size());
    solver.precondition(r, z);
    return z;
  };
  for (const char* const word : {"amg", "jacobi", "isai"})
    CHECK(differences(precondition(-700, word), times(precondition(0, word), 700)) == 0);
  CHECK(differences(precondition(-700, "none"), precondition(0, "none")) == 0);
}

}  // namespace
}  // namespace weft::tests
