#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.h"
#include "library/include/weft/weft.hpp"
#include "tests/library/c_job.h"
#include "tests/library/tridiagonal.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::tests {
namespace {

TEST_CASE("the C interface gives the bits of the C++ interface") {
  constexpr std::int64_t row_count = 3000;
  weft_job* const job = create_c_job();
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
  std::vector<double> z(rows.count());
  CHECK(weft_solver_precondition(solver, b.data(), z.data()) == WEFT_OK);
  CHECK(z != b);
  weft_solver_renew_preconditioner(solver);
  CHECK(weft_matrix_nonzero_count(a) > 4 * row_count);
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

TEST_CASE("eigenvalues and densities from C have the bits of the C++ interface") {
  constexpr std::int64_t row_count = 2000;
  weft_job* const job = create_c_job();
  const TridiagonalRows rows(row_count, weft_job_rank(job), weft_job_size(job));
  TridiagonalRows heavier(row_count, weft_job_rank(job), weft_job_size(job), 9);
  const auto make = [&](const TridiagonalRows& of) {
    weft_matrix* made = nullptr;
    CHECK(weft_matrix_from_rows(job, of.first_row, std::ssize(of.offsets) - 1, of.offsets.data(),
                                of.columns.data(), of.values.data(), nullptr, &made) == WEFT_OK);
    return made;
  };
  weft_matrix* const a = make(rows);
  weft_matrix* const b = make(heavier);
  constexpr std::size_t count = 4;
  std::vector<double> values(count);
  std::vector<double> residuals(count);
  std::vector<double> bounds(count);
  std::vector<double> vectors(count * rows.count());
  weft_eigen_report report{};
  CHECK(weft_eigenvalues(a, "--count 4 --which largest", values.data(), residuals.data(),
                         bounds.data(), vectors.data(), &report) == WEFT_OK);
  CHECK(report.status == WEFT_CONVERGED);
  CHECK(report.count == 4);
  std::vector<double> with_mass(count);
  const char* const words = "--count 4 --tolerance 1e-9 --preconditioner jacobi";
  CHECK(weft_eigenvalues_with_mass(a, b, words, with_mass.data(), nullptr, nullptr, nullptr,
                                   nullptr) == WEFT_OK);
  constexpr int points = 50;
  std::vector<double> energies(points);
  std::vector<double> density(points);
  std::vector<double> errors(points);
  weft_density_report of_density{};
  CHECK(weft_spectral_density(a, "--moments 64 --interval 2:5", nullptr, nullptr, points,
                              energies.data(), density.data(), errors.data(),
                              &of_density) == WEFT_OK);
  CHECK(of_density.has_count == 1);
  CHECK(weft_spectral_density(a, nullptr, nullptr, nullptr, 0, energies.data(), density.data(),
                              nullptr, nullptr) == WEFT_ERROR_BAD_INPUT);
  CHECK(weft_eigenvalues(a, "--count 4 --method lanczos --absolute-tolerance 1", values.data(),
                         nullptr, nullptr, nullptr, nullptr) == WEFT_ERROR_BAD_INPUT);
  CHECK(weft_eigenvalues_with_mass(a, nullptr, nullptr, values.data(), nullptr, nullptr, nullptr,
                                   nullptr) == WEFT_ERROR_MISUSE);
  weft_matrix_destroy(b);
  weft_matrix_destroy(a);
  weft_job_destroy(job);

  const Job same(MPI_COMM_WORLD, {.threads = thread_count()});
  const Matrix matrix = Matrix::from_rows(same, rows.rows());
  const Matrix mass = Matrix::from_rows(same, heavier.rows());
  const Eigenvalues found =
      eigenvalues(matrix, {{"count", "4"}, {"which", "largest"}}, Eigenvectors::own_rows);
  CHECK(values == found.values);
  CHECK(residuals == found.residuals);
  CHECK(bounds == found.error_bounds);
  CHECK(vectors == found.vectors);
  CHECK(with_mass ==
        eigenvalues(matrix, Options::parse(words), Eigenvectors::none, {.mass = &mass}).values);
  const SpectralDensity expected = spectral_density(
      matrix, {{"moments", "64"}, {"interval", "2:5"}, {"points", std::to_string(points)}});
  CHECK(energies == expected.energies);
  CHECK(density == expected.density);
  CHECK(errors == expected.errors);
  CHECK(of_density.count == expected.count);
}

TEST_CASE("rows of very different scale are judged and solved for from C") {
  constexpr std::int64_t row_count = 3000;
  weft_job* const job = create_c_job();
  TridiagonalRows rows(row_count, weft_job_rank(job), weft_job_size(job));
  // A penalty on the first row of each rank sets x to 1 there, as b does elsewhere.
  std::vector<double> b(rows.count(), 1.0);
  double& diagonal = *std::max_element(
      rows.values.begin(), rows.values.begin() + static_cast<std::ptrdiff_t>(rows.offsets[1]));
  diagonal = 1e20;
  b.front() = 1e20;
  weft_matrix* a = nullptr;
  CHECK(weft_matrix_from_rows(job, rows.first_row, std::ssize(rows.offsets) - 1,
                              rows.offsets.data(), rows.columns.data(), rows.values.data(), nullptr,
                              &a) == WEFT_OK);
  std::vector<double> x(rows.count());
  const auto solve = [&](const char* words, weft_report& report) {
    weft_solver* solver = nullptr;
    CHECK(weft_solver_create(a, words, &solver) == WEFT_OK);
    CHECK(weft_solve(solver, b.data(), x.data(), 0, &report) == WEFT_OK);
    std::string json = weft_solver_report_json(solver);
    weft_solver_destroy(solver);
    return json;
  };
  weft_report report{};
  const std::string hidden =
      solve(R"({"method": "cg", "preconditioner": "jacobi", "scale": "none"})", report);
  CHECK(report.status == WEFT_NOT_CONVERGED);
  CHECK(hidden.find("says nothing about most rows") != std::string::npos);
  const std::string scaled =
      solve(R"({"method": "cg", "preconditioner": "jacobi", "scale": "rows"})", report);
  CHECK(report.status == WEFT_CONVERGED);
  CHECK(scaled.find("\"scaled_residual\"") != std::string::npos);
  solve(R"({"method": "auto"})", report);
  CHECK(report.status == WEFT_CONVERGED);
  weft_solver* none = nullptr;
  CHECK(weft_solver_create(a, R"({"scale": "columns"})", &none) == WEFT_ERROR_BAD_INPUT);
  weft_matrix_destroy(a);
  weft_job_destroy(job);
}

/// x_i ← (1 + x_{i−1} + x_{i+1})/4 on a ring of ranks, one value each.
struct Ring {
  int size = 1;
  static double around(const Ring& ring, const double* x, const double* halo) {
    // Alone a rank is its own neighbour; of two each is the other's on both sides.
    if (ring.size == 1) return 2 * x[0];
    return ring.size == 2 ? 2 * halo[0] : halo[0] + halo[1];
  }
  static void pack(const double* x, std::int64_t, double* out, void*) { out[0] = x[0]; }
  static void update(const double* x, const double* halo, double* next, void* user) {
    next[0] = (1 + around(*static_cast<Ring*>(user), x, halo)) / 4;
  }
  static double residual_square(const double* x, const double* halo, void* user) {
    const double residual = 1 + around(*static_cast<Ring*>(user), x, halo) - 4 * x[0];
    return residual * residual;
  }
};

TEST_CASE("an iteration in C converges in lock step and without waiting") {
  weft_job* job = nullptr;
  CHECK(weft_job_create(MPI_COMM_WORLD, nullptr, &job) == WEFT_OK);
  Ring ring{weft_job_size(job)};
  std::vector<weft_neighbour> neighbours;
  for (int rank = 0; rank < ring.size; ++rank) {
    const int distance = std::abs(rank - weft_job_rank(job));
    if (distance == 1 || (distance > 0 && distance == ring.size - 1))
      neighbours.push_back({rank, 1, 1});
  }
  const weft_user_iteration user{neighbours.data(), std::ssize(neighbours), Ring::pack,
                                 Ring::update,      Ring::residual_square,  &ring};
  for (const char* const options :
       {"--tolerance 1e-10", "--tolerance 1e-10 --variant async --max-iterations 100000000"}) {
    weft_iteration* iteration = nullptr;
    CHECK(weft_iteration_create(job, &user, options, &iteration) == WEFT_OK);
    double x = 0;
    weft_iteration_report report{};
    CHECK(weft_iteration_run(iteration, &x, 1, 0, &report) == WEFT_OK);
    CHECK(report.status == WEFT_CONVERGED);
    CHECK(report.residual < 1e-10);
    CHECK(x == Approx(0.5));
    weft_iteration_destroy(iteration);
  }
  weft_iteration* none = nullptr;
  CHECK(weft_iteration_create(job, &user, "--variant soon", &none) == WEFT_ERROR_BAD_INPUT);
  CHECK(none == nullptr);
  weft_job_destroy(job);
}

TEST_CASE("a job in C tells where its threads are") {
  weft_job* const job = create_c_job();
  weft_thread_place place{.thread = -2, .planned_cpu = -1, .last_cpu = -1};
  int count = 0;
  CHECK(weft_job_audit(job, &place, 1, &count) == WEFT_OK);
  CHECK(count >= thread_count());
  CHECK(place.thread >= -1);
  CHECK(weft_job_findings(job) != nullptr);
  weft_job_destroy(job);
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

TEST_CASE("options that cannot be read on one rank are the same error on all") {
  weft_job* const job = create_c_job();
  const bool is_first = weft_job_rank(job) == 0;
  const auto check_is_refused = [](int code, const char* text) {
    CHECK(code == WEFT_ERROR_BAD_INPUT);
    CHECK(std::string(weft_error_message()).find(text) != std::string::npos);
  };
  weft_matrix* a = nullptr;
  check_is_refused(weft_matrix_generate(job, "poisson2d:4", is_first ? "{" : nullptr, &a), "JSON");
  check_is_refused(weft_matrix_from_file(job, "none.mtx", is_first ? "--format" : nullptr, &a),
                   "--format");
  const TridiagonalRows rows(200, weft_job_rank(job), weft_job_size(job));
  check_is_refused(
      weft_matrix_from_rows(job, rows.first_row, std::ssize(rows.offsets) - 1, rows.offsets.data(),
                            rows.columns.data(), rows.values.data(), is_first ? "crs" : "", &a),
      "crs");
  CHECK(weft_matrix_generate(job, "poisson2d:4", nullptr, &a) == WEFT_OK);
  weft_solver* solver = nullptr;
  check_is_refused(weft_solver_create(a, is_first ? "cg" : nullptr, &solver), "cg");
  const weft_user_iteration user{nullptr, 0, Ring::pack, Ring::update, Ring::residual_square,
                                 nullptr};
  weft_iteration* iteration = nullptr;
  check_is_refused(weft_iteration_create(job, &user, is_first ? "[]" : nullptr, &iteration), "[]");
  weft_matrix_destroy(a);
  weft_job_destroy(job);
}

}  // namespace
}  // namespace weft::tests
