#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.h"
#include "library/include/weft/weft.hpp"
#include "tests/library/tridiagonal.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::tests {
namespace {

TEST_CASE("the C interface gives the bits of the C++ interface") {
  constexpr std::int64_t row_count = 3000;
  const weft_job_options options{.threads = thread_count(),
                                 .pinning = WEFT_KEEP,
                                 .strict_placement = 0,
                                 .on_stall = nullptr,
                                 .user = nullptr,
                                 .stall_seconds = 0};
  weft_job* job = nullptr;
  CHECK(weft_job_create(MPI_COMM_WORLD, &options, &job) == WEFT_OK);
  const TridiagonalRows rows(row_count, weft_job_rank(job), weft_job_size(job));
  weft_matrix* a = nullptr;
  CHECK(weft_matrix_from_rows(job, rows.first_row, std::ssize(rows.offsets) - 1,
                              rows.offsets.data(), rows.columns.data(), rows.values.data(), nullptr,
                              &a) == WEFT_OK);
  CHECK(weft_matrix_row_count(a) == row_count);
  const char* const words = R"({"preconditioner": "jacobi", "tolerance": 1e-12})";
  weft_solver* solver = nullptr;
  CHECK(weft_solver_create(a, words, &solver) == WEFT_OK);
  std::vector<double> b(rows.count());
  CHECK(weft_matrix_right_hand_side(a, "random:5", b.data()) == WEFT_OK);
  std::vector<double> x(rows.count());
  weft_report report{};
  CHECK(weft_solve(solver, b.data(), x.data(), 0, &report) == WEFT_OK);
  CHECK(report.status == WEFT_CONVERGED);
  CHECK(std::string(weft_solver_report_json(solver)).find("\"converged\"") != std::string::npos);
  // Twice the same vector, once with the other sign.
  std::vector<double> two;
  for (const double value : b) two.insert(two.end(), {value, -value});
  std::vector<double> both(two.size());
  weft_report reports[2] = {};
  CHECK(weft_solve_block(solver, two.data(), both.data(), 2, 0, reports) == WEFT_OK);
  CHECK(reports[1].iterations == report.iterations);
  std::vector<double> product(two.size());
  CHECK(weft_matrix_multiply_block(a, two.data(), product.data(), 2) == WEFT_OK);
  int differences = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    differences +=
        both[2 * i] != x[i] || both[2 * i + 1] != -x[i] || product[2 * i] != -product[2 * i + 1];
  CHECK(differences == 0);
  CHECK(weft_solve_block(solver, two.data(), both.data(), 0, 0, nullptr) == WEFT_ERROR_BAD_INPUT);
  weft_solver_destroy(solver);
  weft_matrix_destroy(a);
  weft_job_destroy(job);

  const Job same(MPI_COMM_WORLD, {.threads = thread_count()});
  Solver other(Matrix::from_rows(same, rows.rows()), Options::from_json(words));
  std::vector<double> expected(rows.count());
  CHECK(other.solve(b, expected).iterations == report.iterations);
  CHECK(x == expected);
}

TEST_CASE("errors of the C interface are a code and a line") {
  weft_job* job = nullptr;
  CHECK(weft_job_create(MPI_COMM_WORLD, nullptr, &job) == WEFT_OK);
  weft_matrix* a = nullptr;
  CHECK(weft_matrix_generate(job, "poisson4d:3", nullptr, &a) == WEFT_ERROR_BAD_INPUT);
  CHECK(a == nullptr);
  CHECK(std::string(weft_error_message()).find("poisson4d") != std::string::npos);
  CHECK(weft_matrix_generate(job, nullptr, nullptr, &a) == WEFT_ERROR_MISUSE);
  CHECK(weft_matrix_generate(job, "poisson2d:4", "--format crs", &a) == WEFT_OK);
  weft_solver* solver = nullptr;
  CHECK(weft_solver_create(a, "--method none", &solver) == WEFT_ERROR_BAD_INPUT);
  CHECK(solver == nullptr);
  weft_matrix_destroy(a);
  weft_job_destroy(job);
}

}  // namespace
}  // namespace weft::tests
