// What weft::Solver chooses, refuses and turns to: as `weft solve` does.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.hpp"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::tests {
namespace {

/// This rank's rows of the 5-point stencil on n×n points; `entry(i, j)` of neighbours and of the
/// point itself, stored where it is not zero.
struct GridRows {
  GridRows(const Job& job, std::int64_t n,
           const std::function<double(std::int64_t i, std::int64_t j)>& entry) {
    const std::int64_t count = n * n;
    first_row = count * job.rank() / job.size();
    const std::int64_t end = count * (job.rank() + 1) / job.size();
    offsets.push_back(0);
    for (std::int64_t i = first_row; i < end; ++i) {
      const auto add = [&](bool exists, std::int64_t j) {
        if (!exists || entry(i, j) == 0) return;
        columns.push_back(j);
        values.push_back(entry(i, j));
      };
      add(i >= n, i - n);
      add(i % n > 0, i - 1);
      add(true, i);
      add(i % n < n - 1, i + 1);
      add(i + n < count, i + n);
      offsets.push_back(static_cast<std::int64_t>(columns.size()));
    }
  }
  Rows rows() const { return {first_row, offsets, columns, values}; }

  std::int64_t first_row = 0;
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> columns;
  std::vector<double> values;
};

double laplacian(std::int64_t i, std::int64_t j) { return i == j ? 4 : -1; }
double convection(std::int64_t i, std::int64_t j) { return i == j ? 5 : j < i ? -2 : -0.5; }
/// Symmetric with a positive diagonal, and not definite.
double hidden(std::int64_t i, std::int64_t j) { return i == j ? 1 : -1; }

double neumann(std::int64_t i, std::int64_t j) {
  constexpr std::int64_t n = 9;
  if (i != j) return -1;
  return 4.0 - static_cast<double>((i < n) + (i + n >= n * n) + (i % n == 0) + (i % n == n - 1));
}

Job make_job() { return Job(MPI_COMM_WORLD, {.threads = thread_count()}); }

std::string fault_of(const Matrix& a, const Options& options) {
  try {
    const Solver solver(a, options);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    return error.what();
  }
  return "nothing";
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

/// Of `penalized` with u = row + column of the point, by `penalty`·u in b on the rim.
constexpr std::int64_t side = 60;
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

TEST_CASE("auto tries no other method where none can help") {
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
