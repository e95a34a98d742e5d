// Half of a symmetric matrix, and explicit zeros, in rows of a caller.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "library/include/weft/weft.h"
#include "library/include/weft/weft.hpp"
#include "tests/library/c_job.h"
#include "tests/library/tridiagonal.h"
#include "tests/support/mpi_main.h"
#include "tests/support/shared_folder.h"
#include "tests/support/thread_count.h"

namespace weft::tests {
namespace {

constexpr std::int64_t row_count = 2000;

Job make_job() {
  return Job(MPI_COMM_WORLD, {.threads = thread_count(), .pinning = Pinning::keep});
}

using IsWanted = std::function<bool(std::int64_t row, std::int64_t column)>;

/// Without the entries that are not wanted.
TridiagonalRows only(const TridiagonalRows& rows, const IsWanted& is_wanted) {
  TridiagonalRows less = rows;
  less.offsets = {0};
  less.columns.clear();
  less.values.clear();
  for (std::size_t row = 0; row < rows.count(); ++row) {
    for (auto k = static_cast<std::size_t>(rows.offsets[row]);
         k < static_cast<std::size_t>(rows.offsets[row + 1]); ++k)
      if (is_wanted(rows.first_row + static_cast<std::int64_t>(row), rows.columns[k])) {
        less.columns.push_back(rows.columns[k]);
        less.values.push_back(rows.values[k]);
      }
    less.offsets.push_back(std::ssize(less.columns));
  }
  return less;
}

/// The same entries, some of which are zero.
TridiagonalRows with_zeros(TridiagonalRows rows, const IsWanted& is_zero) {
  for (std::size_t row = 0; row < rows.count(); ++row)
    for (auto k = static_cast<std::size_t>(rows.offsets[row]);
         k < static_cast<std::size_t>(rows.offsets[row + 1]); ++k)
      if (is_zero(rows.first_row + static_cast<std::int64_t>(row), rows.columns[k]))
        rows.values[k] = 0;
  return rows;
}

/// Columns descending, and each entry in two halves.
TridiagonalRows shuffled(const TridiagonalRows& rows) {
  TridiagonalRows other = rows;
  other.columns.clear();
  other.values.clear();
  for (std::size_t row = 0; row < rows.count(); ++row)
    for (auto k = static_cast<std::size_t>(rows.offsets[row + 1]);
         k-- > static_cast<std::size_t>(rows.offsets[row]);)
      for (int half = 0; half < 2; ++half) {
        other.columns.push_back(rows.columns[k]);
        other.values.push_back(rows.values[k] / 2);
      }
  for (auto& offset : other.offsets) offset *= 2;
  return other;
}

std::vector<double> vector_of(std::size_t count, std::int64_t first) {
  std::vector<double> x;
  for (std::size_t i = 0; i < count; ++i)
    x.push_back(1 + static_cast<double>((first + static_cast<std::int64_t>(i)) % 13));
  return x;
}

std::vector<double> product(const Matrix& a, const TridiagonalRows& rows) {
  std::vector<double> y(rows.count());
  a.multiply(vector_of(rows.count(), rows.first_row), y);
  return y;
}

/// The matrix is that of `wanted` to the last bit, and so is what a solver makes of it.
void check_is(const Job& job, const Matrix& a, Solver& solver, const TridiagonalRows& wanted,
              const Options& options) {
  const Matrix expected = Matrix::from_rows(job, wanted.rows());
  CHECK((product(a, wanted) == product(expected, wanted)));
  CHECK(a.nonzero_count() == expected.nonzero_count());
  const auto b = vector_of(wanted.count(), wanted.first_row);
  std::vector<double> x(wanted.count());
  std::vector<double> expected_x(wanted.count());
  const Report report = solver.solve(b, x);
  CHECK(report.converged());
  const Report anew = Solver(expected, options).solve(b, expected_x);
  // Levels of amg may be those of other values.
  const bool has_levels = report.preconditioner == "amg";
  CHECK((has_levels || report.iterations == anew.iterations));
  CHECK((has_levels || x == expected_x));
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, std::abs(x[i] - expected_x[i]));
  CHECK(worst < 1e-6);
}

const IsWanted is_upper = [](std::int64_t row, std::int64_t column) { return row <= column; };
const IsWanted is_lower = [](std::int64_t row, std::int64_t column) { return row >= column; };
/// Zeros of a symmetric matrix, among them all entries that some ranks need of others.
const IsWanted is_far = [](std::int64_t row, std::int64_t column) {
  return row - column == 50 || column - row == 50;
};
const IsWanted is_far_or_odd = [](std::int64_t row, std::int64_t column) {
  return is_far(row, column) || (row != column && (row + column) % 3 == 0);
};

TEST_CASE("half of a symmetric matrix is solved only where the caller says what it is") {
  const Job job = make_job();
  const TridiagonalRows rows(row_count, job.rank(), job.size());
  const bool has_upper = GENERATE(true, false);
  const TridiagonalRows half = only(rows, has_upper ? is_upper : is_lower);
  const TridiagonalRows given = GENERATE(true, false) ? half : shuffled(half);
  const Matrix unsaid = Matrix::from_rows(job, given.rows());
  const std::string fault =
      "matrix: found entries " + std::string(has_upper ? "above" : "below") +
      " the diagonal only; expected both triangles, or a word: triangle=mirrored for half of a "
      "symmetric matrix, triangle=as-is for a triangular one";
  for (const char* const method : {"auto", "cg", "gmres"})
    CHECK_THROWS_WITH(Solver(unsaid, {{"method", method}}), fault);
  CHECK(unsaid.remarks() == std::vector<std::string>{fault});
  const Matrix expected = Matrix::from_rows(job, half.rows(), {{"triangle", "as-is"}});
  CHECK((product(unsaid, half) == product(expected, half)));
  CHECK(expected.remarks().empty());
  std::vector<double> x(half.count());
  const auto b = vector_of(half.count(), half.first_row);
  CHECK(Solver(expected, {{"method", "gmres"}}).solve(b, x).converged());

  const Options options{{"method", "cg"}, {"preconditioner", "amg"}};
  Matrix a = Matrix::from_rows(job, given.rows(), {{"triangle", "mirrored"}},
                               GENERATE(Values::copied, Values::borrowed));
  CHECK(a.remarks().empty());
  Solver solver(a, options);
  check_is(job, a, solver, rows, options);
  TridiagonalRows others(row_count, job.rank(), job.size(), 6);
  const TridiagonalRows other_half = only(others, has_upper ? is_upper : is_lower);
  a.update_values(given.values.size() == half.values.size() ? other_half.values
                                                            : shuffled(other_half).values);
  check_is(job, a, solver, others, options);
}

TEST_CASE("explicit zeros are left out, and may have other values later") {
  const Job job = make_job();
  const TridiagonalRows rows(row_count, job.rank(), job.size());
  const bool has_shuffled = GENERATE(false, true);
  const auto given = [&](const TridiagonalRows& of) { return has_shuffled ? shuffled(of) : of; };
  const Options options{{"method", "cg"}, {"preconditioner", GENERATE("none", "ilu0", "amg")}};
  const TridiagonalRows first = given(with_zeros(rows, is_far));
  Matrix a = Matrix::from_rows(job, first.rows(), {}, GENERATE(Values::copied, Values::borrowed));
  CHECK_THAT(a.remarks().front(), Catch::Contains(" entries are exact zeros off the diagonal"));
  Solver solver(a, options);
  const auto is_near = [](std::int64_t row, std::int64_t column) { return !is_far(row, column); };
  check_is(job, a, solver, only(rows, is_near), options);

  const TridiagonalRows others(row_count, job.rank(), job.size(), 6);
  a.update_values(given(with_zeros(others, is_far)).values);
  check_is(job, a, solver, only(others, is_near), options);
  a.update_values(given(others).values);
  check_is(job, a, solver, others, options);
  a.update_values(given(with_zeros(rows, is_far_or_odd)).values);
  check_is(job, a, solver,
           only(rows, [](std::int64_t row, std::int64_t c) { return !is_far_or_odd(row, c); }),
           options);
  // What is refused changes nothing.
  auto short_values = given(rows).values;
  short_values.push_back(1);
  CHECK_THROWS_AS(a.update_values(short_values), Error);
  check_is(job, a, solver,
           only(rows, [](std::int64_t row, std::int64_t c) { return !is_far_or_odd(row, c); }),
           options);
}

TEST_CASE("a preconditioner that is kept goes on with entries in other places") {
  const Job job = make_job();
  const TridiagonalRows rows(row_count, job.rank(), job.size());
  const TridiagonalRows first = with_zeros(rows, is_far);
  Matrix a = Matrix::from_rows(job, first.rows());
  const auto b = vector_of(rows.count(), rows.first_row);
  for (const char* const preconditioner : {"jacobi", "isai", "schwarz:subdomains=4", "amg"}) {
    INFO(preconditioner);
    a.update_values(first.values);
    Solver solver(
        a,
        {{"method", "cg"}, {"preconditioner", preconditioner}, {"reuse-preconditioner", "true"}});
    std::vector<double> x(rows.count());
    CHECK(solver.solve(b, x).converged());
    a.update_values(rows.values);
    CHECK(solver.solve(b, x).converged());
    std::vector<double> y(rows.count());
    a.multiply(x, y);
    for (std::size_t i = 0; i < y.size(); ++i)
      if (y[i] != Approx(b[i]).epsilon(1e-5)) FAIL_CHECK("row " << i << " of the solution");
  }
}

TEST_CASE("what is decided about a vector from a file is remarked once") {
  const Job job = make_job();
  const TridiagonalRows rows(row_count, job.rank(), job.size());
  const Matrix a = Matrix::from_rows(job, rows.rows());
  const auto world = comm_thread::Communicator::collective_world();
  const SharedFolder folder(world);
  const std::string path = folder.file("b.mtx");
  if (world.is_root())
    std::ofstream(path) << "%%MatrixMarket matrix coordinate complex general\n"
                        << row_count << " 1 1\n5 1 2.5 0\n";
  world.barrier();
  for (int i = 0; i < 2; ++i) {
    const std::vector<double> b = a.right_hand_side(path);
    CHECK(world.sum(std::accumulate(b.begin(), b.end(), 0.0)) == 2.5);
    CHECK(a.remarks() ==
          std::vector{path + ": all imaginary parts are 0; the numbers are taken as real"});
  }
}

TEST_CASE("entries as text count from where base says, in C++ and in C") {
  const Job job = make_job();
  const auto world = comm_thread::Communicator::collective_world();
  const SharedFolder folder(world);
  const std::string path = folder.file("a.txt");
  if (world.is_root()) std::ofstream(path) << "1 1 4\n1 3 -1\n3 1 -1\n2 2 4\n3 3 4\n";
  world.barrier();
  const auto said = [&](const std::string& rows) {
    return std::vector{path + ": a matrix of " + rows};
  };
  CHECK(Matrix::from_file(job, path).remarks() == said("3 rows counted from 1"));
  CHECK(Matrix::from_file(job, path, {{"base", "1"}}).remarks() == said("3 rows counted from 1"));
  const Matrix from_0 = Matrix::from_file(job, path, {{"base", "0"}});
  CHECK(from_0.row_count() == 4);
  CHECK(from_0.remarks() == said("4 rows counted from 0"));
  CHECK_THROWS_WITH(Matrix::from_file(job, path, {{"base", "2"}}),
                    Catch::Contains("option base: found '2'; expected 0, 1"));
  CHECK_THROWS_WITH(Matrix::generate(job, "poisson2d:4", {{"base", "0"}}), Catch::Contains("base"));
  const TridiagonalRows rows(row_count, job.rank(), job.size());
  const Matrix a = Matrix::from_rows(job, rows.rows());
  CHECK_THROWS_WITH(Matrix::from_rows(job, rows.rows(), {{"base", "0"}}),
                    Catch::Contains("expected a matrix from a file"));
  CHECK_THROWS_WITH(Solver(a, {{"base", "0"}}), Catch::Contains("expected it with the matrix"));

  weft_job* c_job = create_c_job();
  for (const char* const word : {"--base 0", "--base 1", "--base 2"}) {
    weft_matrix* c_matrix = nullptr;
    const int code = weft_matrix_from_file(c_job, path.c_str(), word, &c_matrix);
    if (word[7] == '2') {
      CHECK(code == WEFT_ERROR_BAD_INPUT);
      CHECK_THAT(weft_error_message(), Catch::Contains("base"));
      continue;
    }
    CHECK(code == WEFT_OK);
    CHECK_THAT(weft_matrix_remarks(c_matrix),
               Catch::Contains(word[7] == '0' ? "4 rows counted from 0" : "3 rows counted from 1"));
    weft_matrix_destroy(c_matrix);
  }
  weft_job_destroy(c_job);
}

TEST_CASE("values that come later say whether the matrix is half of one") {
  const Job job = make_job();
  const TridiagonalRows rows(row_count, job.rank(), job.size());
  const auto never = [](std::int64_t, std::int64_t) { return true; };
  const auto b = vector_of(rows.count(), rows.first_row);
  std::vector<double> x(rows.count());
  const auto strictly_lower = [](std::int64_t row, std::int64_t column) { return row > column; };
  const auto upper_values = with_zeros(rows, strictly_lower).values;

  Matrix a = Matrix::from_rows(job, with_zeros(rows, never).rows());
  a.update_values(upper_values);
  CHECK_THROWS_WITH(Solver(a, {{"method", "gmres"}}), Catch::Contains("above the diagonal only"));
  a.update_values(rows.values);
  Solver solver(a, {{"method", "gmres"}});
  CHECK(solver.solve(b, x).converged());
  // Of a matrix that had both sides nobody asks again.
  a.update_values(upper_values);
  CHECK(a.remarks().size() == 1);
  CHECK(solver.solve(b, x).converged());

  Matrix later = Matrix::from_rows(job, rows.rows());
  later.update_values(upper_values);
  CHECK(Solver(later, {{"method", "gmres"}}).solve(b, x).converged());
}

TEST_CASE("words about triangles that do not fit are errors") {
  const Job job = make_job();
  const TridiagonalRows rows(row_count, job.rank(), job.size());
  const Matrix a = Matrix::from_rows(job, rows.rows(), {{"triangle", "mirrored"}});
  CHECK(a.nonzero_count() == Matrix::from_rows(job, rows.rows()).nonzero_count());
  CHECK_THROWS_WITH(Solver(a, {{"triangle", "as-is"}}),
                    Catch::Contains("expected it with the matrix"));
  CHECK_THROWS_WITH(Matrix::from_rows(job, rows.rows(), {{"triangle", "upper"}}),
                    Catch::Contains("option triangle: found 'upper'; expected mirrored, as-is"));
  CHECK_THROWS_WITH(Matrix::generate(job, "poisson2d:4", {{"triangle", "mirrored"}}),
                    Catch::Contains("expected a matrix from a file"));
  TridiagonalRows unequal = rows;
  for (std::size_t row = 0; row < unequal.count(); ++row)
    for (auto k = static_cast<std::size_t>(unequal.offsets[row]);
         k < static_cast<std::size_t>(unequal.offsets[row + 1]); ++k)
      if (unequal.columns[k] > unequal.first_row + static_cast<std::int64_t>(row))
        unequal.values[k] -= 1;
  CHECK_THROWS_WITH(Matrix::from_rows(job, unequal.rows(), {{"triangle", "mirrored"}}),
                    Catch::Contains("for row 1, column 2, but"));
}

TEST_CASE("the C interface says and takes the same about triangles") {
  const Job cpp_job = make_job();
  const TridiagonalRows half =
      only(TridiagonalRows(row_count, cpp_job.rank(), cpp_job.size()), is_lower);
  weft_job* job = create_c_job();
  for (const char* const word : {"", "--triangle mirrored", "--triangle as-is"}) {
    weft_matrix* a = nullptr;
    CHECK(weft_matrix_from_rows(job, half.first_row, std::ssize(half.offsets) - 1,
                                half.offsets.data(), half.columns.data(), half.values.data(), word,
                                &a) == WEFT_OK);
    weft_solver* solver = nullptr;
    const int code = weft_solver_create(a, "--method gmres", &solver);
    const std::string remarks = weft_matrix_remarks(a);
    if (std::string(word).empty()) {
      CHECK(code == WEFT_ERROR_BAD_INPUT);
      CHECK_THAT(weft_error_message(), Catch::Contains("found entries below the diagonal only"));
      CHECK(remarks == std::string(weft_error_message()) + "\n");
    } else {
      CHECK(code == WEFT_OK);
      CHECK(remarks.empty());
    }
    weft_solver_destroy(solver);
    weft_matrix_destroy(a);
  }
  weft_job_destroy(job);
}

}  // namespace
}  // namespace weft::tests
