// What weft::Solver chooses, refuses and turns to: as `weft solve` does.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.hpp"
#include "tests/library/grid_rows.h"
#include "tests/support/mpi_main.h"

namespace weft::tests {
namespace {

/// Symmetric with a positive diagonal, and not definite.
double hidden(std::int64_t i, std::int64_t j) { return i == j ? 1 : -1; }

double neumann(std::int64_t i, std::int64_t j) {
  constexpr std::int64_t n = 9;
  if (i != j) return -1;
  return 4.0 - static_cast<double>((i < n) + (i + n >= n * n) + (i % n == 0) + (i % n == n - 1));
}

TEST_CASE("mode=auto takes a mode that a model and trials find, with the same bits") {
  const Job job = make_job();
  const GridRows rows(job, 60, laplacian);
  const Matrix a = Matrix::from_rows(job, rows.rows());
  const std::vector<double> b = a.right_hand_side("random:1");
  std::vector<double> x(b.size());
  std::vector<double> chosen(b.size());
  const Report plain = Solver(a, {{"mode", "vector"}}).solve(b, x);
  const Report report = Solver(a, {{"mode", "auto"}}).solve(b, chosen);
  CHECK(report.mode != "auto");
  CHECK_FALSE(report.mode_choice.empty());
  CHECK(plain.mode_choice.empty());
  CHECK(report.json().find("mode_choice") != std::string::npos);
  CHECK(report.iterations == plain.iterations);
  CHECK(chosen == x);
}

TEST_CASE("auto chooses what suits the matrix, and the report says why") {
  const Job job = make_job();
  const auto chosen = [&](std::int64_t n, double (*entry)(std::int64_t, std::int64_t)) {
    const GridRows rows(job, n, entry);
    const Matrix a = Matrix::from_rows(job, rows.rows());
    Solver solver(a, {{"method", "auto"}});
    const std::vector<double> b = a.right_hand_side("random:1");
    std::vector<double> x(b.size());
    const Report report = solver.solve(b, x);
    CHECK(report.converged());
    CHECK(report.decisions.size() == 1);
    return report.method + " " + report.preconditioner;
  };
  CHECK(chosen(20, laplacian) == "cg schwarz:subdomains=1,partition=rows");
  CHECK(chosen(80, laplacian) == "cg jacobi");
  CHECK(chosen(180, laplacian) == "cg multigrid");
  CHECK(chosen(20, convection) == "gmres block-lu:subdomains=1");
  CHECK(chosen(80, convection) == "bicgstab ilu0");
}

TEST_CASE("auto turns to another method where one refuses the matrix, and stays with it") {
  const Job job = make_job();
  const GridRows rows(job, 10, hidden);
  const Matrix a = Matrix::from_rows(job, rows.rows());
  Solver solver(a, {{"method", "auto"}});
  const std::vector<double> b = a.right_hand_side("random:1");
  std::vector<double> x(b.size());
  const Report report = solver.solve(b, x);
  CHECK(report.converged());
  CHECK(report.method == "gmres");
  CHECK(report.decisions.size() == 3);
  CHECK(report.decisions.back() == "turned to gmres with preconditioner block-lu:subdomains=1");
  const Report again = solver.solve(b, x);
  CHECK(again.decisions.size() == 3);
  CHECK(again.iterations == report.iterations);
  CHECK(report.json().find("turned to gmres") != std::string::npos);
}

TEST_CASE("after the iterations that were asked for no other method is tried") {
  const Job job = make_job();
  const GridRows rows(job, 80, laplacian);
  const Matrix a = Matrix::from_rows(job, rows.rows());
  Solver solver(a, {{"method", "auto"}, {"max-iterations", "3"}});
  std::vector<double> x(a.right_hand_side("ones").size());
  const Report report = solver.solve(a.right_hand_side("ones"), x);
  CHECK(report.status == Status::not_converged);
  CHECK(report.iterations == 3);
  CHECK(report.decisions.size() == 1);
}

TEST_CASE("a tolerance that no double reaches ends with the first method's least residual") {
  const Job job = make_job();
  const GridRows rows(job, 20, laplacian);
  const Matrix a = Matrix::from_rows(job, rows.rows());
  Solver solver(a, {{"method", "auto"}, {"tolerance", "1e-25"}});
  const std::vector<double> b = a.right_hand_side("random:1");
  std::vector<double> x(b.size());
  const Report report = solver.solve(b, x);
  CHECK(report.status != Status::converged);
  CHECK(report.explanation.find("what rounding leaves") != std::string::npos);
  CHECK(report.decisions.size() == 1);
  CHECK(report.relative_residual < 1e-14);
  std::vector<double> product(b.size());
  a.multiply(x, product);
  double square = 0;
  double b_square = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    square += (b[i] - product[i]) * (b[i] - product[i]);
    b_square += b[i] * b[i];
  }
  CHECK(square <= 1e-26 * b_square);
}

TEST_CASE("a matrix that is not symmetric is refused by cg, unless forced, and taken by auto") {
  const Job job = make_job();
  const GridRows rows(job, 20, convection);
  const Matrix a = Matrix::from_rows(job, rows.rows());
  CHECK(fault_of(a, {}) ==
        "method=cg needs a symmetric matrix: found -0.5 at row 1, column 2 and -2 at row 2, "
        "column 1; expected method=gmres or bicgstab, or force to run nevertheless");
  CHECK(fault_of(a, {{"force", "true"}}) == "nothing");
  CHECK(fault_of(a, {{"method", "gmres"}}) == "nothing");
  Solver solver(a, {{"method", "auto"}, {"preconditioner", "jacobi"}});
  const std::vector<double> b = a.right_hand_side("random:1");
  std::vector<double> x(b.size());
  const Report report = solver.solve(b, x);
  CHECK(report.converged());
  CHECK(report.method == "gmres");
}

TEST_CASE("new values are looked at again") {
  const Job job = make_job();
  const GridRows rows(job, 20, laplacian);
  Matrix a = Matrix::from_rows(job, rows.rows());
  Solver chooses(a, {{"method", "auto"}});
  Solver insists(a, {{"preconditioner", "jacobi"}});
  const std::vector<double> b = a.right_hand_side("random:1");
  std::vector<double> x(b.size());
  CHECK(chooses.solve(b, x).method == "cg");
  CHECK(insists.solve(b, x).converged());
  a.update_values(GridRows(job, 20, hidden).values);  // the same list of methods
  CHECK(chooses.solve(b, x).method == "gmres");
  a.update_values(GridRows(job, 20, convection).values);
  const Report report = chooses.solve(b, x);
  CHECK(report.method == "gmres");
  CHECK(report.converged());
  CHECK_THROWS_WITH(insists.solve(b, x), Catch::Contains("needs a symmetric matrix"));
  a.update_values(rows.values);
  CHECK(insists.solve(b, x).converged());
}

TEST_CASE(
    "a null space is projected out where it is found or given, and refused where it is none") {
  const Job job = make_job();
  const GridRows rows(job, 9, neumann);
  const Matrix a = Matrix::from_rows(job, rows.rows());
  const std::vector<double> b = a.right_hand_side("x-random:3");
  std::vector<double> x(b.size());
  for (const Options& options : {Options{}, {{"null-space", "constant"}}, {{"method", "auto"}}}) {
    Solver solver(a, options);
    const Report report = solver.solve(b, x);
    CHECK(report.converged());
    CHECK(report.null_space.starts_with("constant"));
    CHECK(solver.solve(b, x, Start::from_guess).iterations == 0);
  }
  const std::vector<double> ones = a.right_hand_side("ones");
  Solver solver(a);
  const Report least = solver.solve(ones, x);
  CHECK(least.status == Status::not_converged);
  CHECK(least.explanation.find("null space") != std::string::npos);
  const Matrix regular = Matrix::generate(job, "poisson2d:10");
  CHECK(fault_of(regular, {{"null-space", "constant"}}).find("A times this vector") !=
        std::string::npos);
  const Matrix stencil = Matrix::stencil(job, {10, 10, 1});
  CHECK(fault_of(stencil, {{"null-space", "constant"}}).find("expected a matrix") !=
        std::string::npos);
}

TEST_CASE("a solve ends when its time is over, after the same iteration on all ranks") {
  const Job job = make_job();
  const Matrix a = Matrix::generate(job, "poisson2d:60");
  Solver solver(a, {{"max-seconds", "0.02"},
                    {"tolerance", "0"},
                    {"absolute-tolerance", "1e-300"},
                    {"max-iterations", "1000000000"},
                    {"force", "true"},
                    {"method", "minres"}});
  const std::vector<double> b = a.right_hand_side("random:1");
  std::vector<double> x(b.size());
  solver.set_monitor([](std::int64_t, double) { return false; });
  const Report report = solver.solve(b, x);
  // Rounding may end it before.
  const bool is_known = report.status == Status::out_of_time || report.status == Status::breakdown;
  CHECK(is_known);
  std::int64_t least = 0;
  MPI_Allreduce(&report.iterations, &least, 1, MPI_INT64_T, MPI_MIN, job.communicator());
  CHECK(least == report.iterations);
  CHECK(fault_of(a, {{"max-seconds", "0"}}).find("seconds above 0") != std::string::npos);
}

TEST_CASE("auto tries no other method where none can help") {
  constexpr std::int64_t side = 60;
  const Job job = make_job();
  const auto explanation_of = [&](const GridRows& rows, double of_last, Options options) {
    const Matrix a = Matrix::from_rows(job, rows.rows());
    std::vector<double> b(rows.offsets.size() - 1, 1.0);
    if (job.rank() + 1 == job.size()) b.back() = of_last;
    std::vector<double> x(b.size());
    options.set("method", "auto");
    const Report report = Solver(a, options).solve(b, x);
    CHECK(report.status != Status::converged);
    for (const std::string& line : report.decisions) {
      INFO(line);
      CHECK(line.find("after ") == std::string::npos);  // so many iterations it turned
    }
    return report.explanation;
  };
  // Half of the rows have zeros only.
  const auto with_zeros = [](std::int64_t i, std::int64_t j) {
    return i < side * side / 2 && j < side * side / 2 ? convection(i, j) : 0;
  };
  CHECK(explanation_of(GridRows(job, side, with_zeros), 1, {}).find("zeros only") !=
        std::string::npos);
  CHECK(explanation_of(GridRows(job, 200, laplacian), 1, {{"tolerance", "1e-17"}})
            .find("what rounding leaves") != std::string::npos);
}

TEST_CASE("auto gives up multigrid where it falls behind its forecast") {
  const Job job = make_job();
  constexpr std::int64_t n = 180;
  // Every coupling is there, four in ten of them weak.
  const auto coupling = [](std::int64_t i, std::int64_t j) {
    const auto hash = static_cast<std::uint64_t>(std::min(i, j) * 2 + std::abs(i - j) % 2) *
                      std::uint64_t{0x9e3779b97f4a7c15};
    return (hash ^ (hash >> 29)) % 10 < 4 ? 1e-4 : 1.0;
  };
  const GridRows rows(job, n, [&](std::int64_t i, std::int64_t j) {
    if (i != j) return -coupling(i, j);
    double sum = 1e-3;
    if (i >= n) sum += coupling(i, i - n);
    if (i % n > 0) sum += coupling(i, i - 1);
    if (i % n < n - 1) sum += coupling(i, i + 1);
    if (i + n < n * n) sum += coupling(i, i + n);
    return sum;
  });
  const Matrix a = Matrix::from_rows(job, rows.rows());
  Solver solver(a, {{"method", "auto"}});
  const std::vector<double> b = a.right_hand_side("random:1");
  std::vector<double> x(b.size());
  const Report report = solver.solve(b, x);
  CHECK(report.converged());
  CHECK(report.preconditioner == "amg");
  REQUIRE(report.decisions.size() == 3);
  CHECK(report.decisions[1].find("than were forecast") != std::string::npos);
}

TEST_CASE("pipelined methods take the iterations of others, whatever the preconditioner") {
  const Job job = make_job();
  const auto iterations = [&](const Matrix& a, const char* method, const char* preconditioner) {
    INFO(method << " with " << preconditioner);
    const std::vector<double> b = a.right_hand_side("random:1");
    std::vector<double> x(b.size());
    const Report report =
        Solver(a, {{"method", method}, {"preconditioner", preconditioner}, {"tolerance", "1e-9"}})
            .solve(b, x);
    CHECK(report.converged());
    CHECK(report.restarts == 0);
    return report.iterations;
  };
  const Matrix a = Matrix::generate(job, "poisson3d:16");
  for (const char* const preconditioner : {"amg", "multigrid"}) {
    const std::int64_t of_cg = iterations(a, "cg", preconditioner);
    CHECK(iterations(a, "cg-pipelined", preconditioner) <= of_cg + 1);
    CHECK(iterations(a, "cg-pipelined-pr", preconditioner) <= of_cg + 1);
  }
  CHECK(iterations(a, "bicgstab-pipelined", "amg") <= iterations(a, "bicgstab", "amg") + 1);
}

TEST_CASE("where no method can help, the first is the only one") {
  const Job job = make_job();
  const Matrix a = Matrix::generate(job, "irregular:500");
  Solver solver(a, {{"method", "auto"}});
  const auto n = static_cast<std::size_t>(a.local_row_count());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> b(n, 1);
  std::vector<double> x(n);
  const std::size_t decisions = solver.solve(b, x).decisions.size();
  if (job.rank() == job.size() - 1) b.back() = nan;
  const Report report = solver.solve(b, x);
  CHECK(report.status == Status::breakdown);
  CHECK(report.decisions.size() == decisions);
  CHECK(report.explanation == "b has a value that is not finite; expected numbers");
  std::vector<double> guess(n, job.rank() == 0 ? nan : 0);
  const Report from_guess = solver.solve(std::vector<double>(n, 1), guess, Start::from_guess);
  CHECK(from_guess.status != Status::converged);
  CHECK(from_guess.decisions.size() == decisions);
  CHECK_THAT(from_guess.explanation, Catch::Contains("guess"));
  CHECK(solver.solve(std::vector<double>(n, 1), x).status == Status::converged);
}

}  // namespace
}  // namespace weft::tests
