// What fails on one rank fails on all of them, and what fails once fails again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.hpp"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::tests {
namespace {

Job make_job() { return Job(MPI_COMM_WORLD, {.threads = thread_count()}); }

/// What `work` throws; empty: nothing.
template <class Work>
std::string fault_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// This rank's rows of a path of points, whose rows add up to zero.
struct PathRows {
  PathRows(const Job& job, std::int64_t row_count) {
    first_row = row_count * job.rank() / job.size();
    const std::int64_t end_row = row_count * (job.rank() + 1) / job.size();
    offsets.push_back(0);
    for (std::int64_t row = first_row; row < end_row; ++row) {
      for (std::int64_t column = std::max<std::int64_t>(row - 1, 0);
           column <= std::min(row + 1, row_count - 1); ++column) {
        const bool is_end = row == 0 || row + 1 == row_count;
        rows.push_back(row);
        columns.push_back(column);
        values.push_back(column != row ? -1.0 : is_end ? 1.0 : 2.0);
      }
      offsets.push_back(static_cast<std::int64_t>(columns.size()));
    }
  }

  Rows view() const { return {first_row, offsets, columns, values}; }

  /// The values with others on, left and right of the diagonal, added.
  std::vector<double> plus(double left, double diagonal, double right) const {
    std::vector<double> sum = values;
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += columns[i] < rows[i] ? left : columns[i] == rows[i] ? diagonal : right;
    return sum;
  }

  std::int64_t first_row = 0;
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> rows;  // of each entry
  std::vector<std::int64_t> columns;
  std::vector<double> values;
};

/// Solves with good values, twice with `bad` ones, which are refused for `reason`, and again with
/// the good ones.
void check_refuses_again(const Options& options, double shift, const std::vector<double>& added,
                         const std::string& reason) {
  const Job job = make_job();
  PathRows rows(job, 30);
  const std::vector<double> bad = rows.plus(added[0], added[1], added[2]);
  rows.values = rows.plus(0, shift, 0);
  Matrix a = Matrix::from_rows(job, rows.view());
  Solver solver(a, options);
  const std::vector<double> b = a.right_hand_side("random:1");
  std::vector<double> x(b.size());
  solver.solve(b, x);
  const std::vector<double> expected = x;
  a.update_values(bad);
  for (int i = 0; i < 3; ++i) {
    INFO("try " << i);
    CHECK(fault_of([&] { solver.solve(b, x); }).find(reason) != std::string::npos);
    CHECK(fault_of([&] { solver.precondition(b, x); }).find(reason) != std::string::npos);
    CHECK(fault_of([&] { solver.solve_block(b, x, 1); }).find(reason) != std::string::npos);
  }
  a.update_values(rows.values);
  solver.solve(b, x);
  CHECK(x == expected);
}

TEST_CASE("values that the solver refuses are refused by every later solve") {
  check_refuses_again({{"method", "cg"}, {"preconditioner", "jacobi"}}, 1, {0.5, 1, 0},
                      "symmetric");
  check_refuses_again({{"method", "cg"}, {"null-space", "constant"}}, 0, {0, 1, 0}, "null-space");
  check_refuses_again({{"method", "gmres"}, {"preconditioner", "jacobi"}}, 1, {0, -2, 0},
                      "zero on the diagonal");
}

TEST_CASE("a solve begins at a guess where a rank has no rows") {
  const Job job = make_job();
  const PathRows rows(job, 1);
  const Matrix a = Matrix::from_rows(job, rows.view());
  Solver solver(a, {{"method", "cg"}});
  const std::vector<double> b(rows.offsets.size() - 1, 3.0);
  std::vector<double> x = b;
  const Report report = solver.solve(b, x, Start::from_guess);
  CHECK(report.converged());
  CHECK(report.iterations == 0);
  CHECK(x == b);
}

TEST_CASE("several right-hand sides are solved where one rank alone has a monitor") {
  const Job job = make_job();
  PathRows rows(job, 30);
  rows.values = rows.plus(0, 1, 0);
  const Matrix a = Matrix::from_rows(job, rows.view(), {{"format", "crs"}});
  Solver solver(a, {{"method", "cg"}});
  std::int64_t calls = 0;
  if (job.rank() == 0) solver.set_monitor([&](std::int64_t, double) { return ++calls < 0; });
  const std::vector<double> b(4 * (rows.offsets.size() - 1), 1.0);
  std::vector<double> x(b.size());
  for (const Report& report : solver.solve_block(b, x, 4)) CHECK(report.converged());
  CHECK((calls > 0) == (job.rank() == 0));
}

/// Twice the identity, as functions; 10 rows a rank, or none.
UserOperator twice(const Job& job, bool has_rows, bool has_diagonal) {
  UserOperator user;
  // The last rank may have no rows.
  const bool is_empty = !has_rows && job.size() > 1 && job.rank() + 1 == job.size();
  user.first_row = std::int64_t{10} * job.rank();
  user.row_count = is_empty ? 0 : 10;
  user.interior = [](std::int64_t first, std::int64_t last, const double* x, double* y) {
    for (std::int64_t i = first; i < last; ++i) y[i] = 2 * x[i];
  };
  user.boundary = [](std::int64_t, std::int64_t, const double*, double*) {};
  if (has_diagonal)
    user.diagonal = [](std::span<double> diagonal) { std::ranges::fill(diagonal, 2.0); };
  return user;
}

TEST_CASE("an operator without a diagonal on one rank is refused on all") {
  const Job job = make_job();
  const bool is_last = job.rank() + 1 == job.size();
  const Matrix a = Matrix::from_operator(job, twice(job, true, !is_last));
  CHECK(fault_of([&] {
          const Solver solver(a, {{"preconditioner", "jacobi"}});
        }).find("without a diagonal") != std::string::npos);
  if (job.size() == 1) return;
  const Matrix some = Matrix::from_operator(job, twice(job, false, !is_last));
  Solver solver(some, {{"method", "cg"}, {"preconditioner", "jacobi"}});
  std::vector<double> x(static_cast<std::size_t>(some.local_row_count()));
  CHECK(solver.solve(std::vector<double>(x.size(), 1.0), x).converged());
}

TEST_CASE("a report with text that is not UTF-8 is JSON") {
  Report report;
  report.null_space = "null-\xff.mtx";
  CHECK(report.json().find("null-\xEF\xBF\xBD.mtx") != std::string::npos);
}

TEST_CASE("a stencil has a limited number of points and finite weights") {
  const Job job = make_job();
  CHECK(fault_of([&] {
          Matrix::stencil(job, {std::int64_t{1} << 32, 1, 1});
        }).find("expected 1 to 2147483648") != std::string::npos);
  CHECK(fault_of([&] {
          Matrix::stencil(job, {4, 4, 4}, {1, std::numeric_limits<double>::infinity(), 1});
        }).find("finite") != std::string::npos);
}

}  // namespace
}  // namespace weft::tests
