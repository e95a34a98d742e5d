#include <algorithm>
#include <bit>
#include <cstdint>
#include <fstream>
#include <string>
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

/// Σ of a hash of each row's number and bits, over all ranks: equal for equal vectors, wherever
/// their rows are.
std::uint64_t collective_hash(const Job& job, const Matrix& a, const std::vector<double>& x) {
  std::uint64_t mine = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto row = static_cast<std::uint64_t>(a.global_row(static_cast<std::int64_t>(i)));
    mine +=
        (std::bit_cast<std::uint64_t>(x[i]) ^ (row * 0x9E3779B97F4A7C15U)) * 0xBF58476D1CE4E5B9U;
  }
  std::uint64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, job.communicator());
  return all;
}

struct Solved {
  Report report;
  std::uint64_t hash;
};

Solved collective_solve(const Job& job, const Matrix& a, const Options& options) {
  Solver solver(a, options);
  const std::vector<double> b = a.right_hand_side("random:3");
  std::vector<double> x(b.size());
  Solved solved{solver.solve(b, x), 0};
  solved.hash = collective_hash(job, a, x);
  return solved;
}

TEST_CASE("the bits of a solution do not depend on ranks, threads and where rows are cut") {
  const Job job = make_job();
  const TridiagonalRows rows(row_count, job.rank(), job.size());
  const auto solved = collective_solve(job, Matrix::from_rows(job, rows.rows()),
                                       {{"preconditioner", "jacobi"}, {"tolerance", "1e-12"}});
  CHECK(solved.report.converged());
  const Job alone(MPI_COMM_SELF, {.threads = 1});
  const TridiagonalRows all(row_count, 0, 1);
  const auto expected = collective_solve(alone, Matrix::from_rows(alone, all.rows()),
                                         {{"preconditioner", "jacobi"}, {"tolerance", "1e-12"}});
  CHECK(solved.hash == expected.hash);
  CHECK(solved.report.iterations == expected.report.iterations);
}

TEST_CASE("all methods solve, from options as a text") {
  const Job job = make_job();
  const Matrix a = Matrix::generate(job, "poisson3d:12");
  for (const char* const method : {"cg", "cg-one-reduction", "cg-pipelined", "cg-pipelined-pr",
                                   "fcg", "gmres", "pcg-jacobi", "auto"}) {
    INFO(method);
    const auto solved = collective_solve(
        job, a, Options::parse(std::string("--tolerance 1e-10 --method ") + method));
    CHECK(solved.report.converged());
    CHECK(solved.report.relative_residual < 1.1e-10);
  }
}

TEST_CASE("the JSON of a report has the shapes of weft solve --json") {
  const Job job = make_job();
  const Matrix a = Matrix::generate(job, "poisson3d:12");
  const auto solved = collective_solve(
      job, a, Options::parse("--preconditioner amg:degree=2 --history 1 --tolerance 1e-6"));
  const std::string json = solved.report.json();
  INFO(json);
  CHECK(json.find("\"preconditioner\":\"amg\"") != std::string::npos);
  CHECK(json.find("\"phases\":{") != std::string::npos);
  CHECK(json.find("\"local_part\":{\"min\":") != std::string::npos);
  CHECK(json.find("\"history\":[[1,null,") != std::string::npos);
  CHECK(json.find("\"status\":\"converged\"") != std::string::npos);
  CHECK(json.starts_with("{\"weft\":\""));
}

TEST_CASE("a report says what products took in the forms of storage that they tried") {
  const Job job = make_job();
  const Options options{{"max-iterations", "60"}, {"tolerance", "1e-30"}};
  const auto solve_as = [&](const char* format) {
    const Matrix a = Matrix::generate(job, "irregular:6000", {{"format", format}});
    auto solved = collective_solve(job, a, options);
    CHECK(solved.report.matrix_format == a.format());
    return solved;
  };
  const Solved tried = solve_as("auto");
  const Solved crs = solve_as("crs");
  CHECK(tried.hash == crs.hash);
  CHECK(tried.report.product_seconds.size() == 2);
  CHECK(tried.report.json().find("\"product_seconds\":{\"CRS\":") != std::string::npos);
  CHECK(tried.report.json().find("\"matrix_format\":\"" + tried.report.matrix_format) !=
        std::string::npos);
  CHECK(crs.report.product_seconds.empty());
  CHECK(solve_as("sell").report.matrix_format == "SELL-8");
}

TEST_CASE("a guess saves iterations, and the solution itself takes none") {
  const Job job = make_job();
  for (const char* const method : {"cg", "cg-one-reduction", "cg-pipelined", "gmres"}) {
    INFO(method);
    const bool is_matrix_free = std::string(method).find("cg") == 0 && GENERATE(false, true);
    const Matrix a = Matrix::generate(job, "poisson3d:14",
                                      {{"operator", is_matrix_free ? "stencil" : "matrix"}});
    Solver solver(a, {{"method", method}, {"tolerance", "1e-6"}});
    const std::vector<double> b = a.right_hand_side();
    std::vector<double> x(b.size());
    const auto from_zero = solver.solve(b, x);
    CHECK(from_zero.converged());
    CHECK(solver.solve(b, x, Start::from_guess).iterations == 0);
    for (double& value : x) value *= 1.0001;
    const auto near = solver.solve(b, x, Start::from_guess);
    CHECK(near.converged());
    CHECK(near.iterations > 0);
    CHECK(near.iterations < from_zero.iterations);
  }
}

TEST_CASE("a solve ends at an absolute residual, where the monitor says, or where it diverges") {
  const Job job = make_job();
  const Matrix a = Matrix::generate(job, "poisson2d:40");
  const std::vector<double> b = a.right_hand_side("random:1");
  std::vector<double> x(b.size());
  for (const char* const method : {"cg", "cg-one-reduction", "gmres"}) {
    INFO(method);
    Solver absolute(a, {{"method", method}, {"tolerance", "0"}, {"absolute-tolerance", "1e-3"}});
    const auto small = absolute.solve(b, x);
    CHECK(small.converged());

    Solver stopped(a, {{"method", method}, {"history", "true"}});
    stopped.set_monitor([](std::int64_t iteration, double) { return iteration >= 5; });
    const auto report = stopped.solve(b, x);
    CHECK(report.status == Status::stopped);
    CHECK(report.iterations == 6);
    CHECK(report.history.size() == 6);
    CHECK(report.history.back() == Approx(report.recurrence_residual));
    stopped.set_monitor({});
    CHECK(stopped.solve(b, x).converged());
  }
  Solver diverges(a, {{"divergence", "1.0001"}, {"tolerance", "1e-12"}});
  CHECK(diverges.solve(b, x).status == Status::diverged);
}

TEST_CASE("a preconditioner is made again after new values, unless it is to be kept") {
  const Job job = make_job();
  TridiagonalRows rows(row_count, job.rank(), job.size());
  Matrix a = Matrix::from_rows(job, rows.rows());
  const std::vector<double> b = a.right_hand_side();
  std::vector<double> x(b.size());
  Solver renews(a, {{"preconditioner", "jacobi"}});
  Solver keeps(a, {{"preconditioner", "jacobi"}, {"reuse-preconditioner", "true"}});
  const TridiagonalRows others(row_count, job.rank(), job.size(), 9);
  a.update_values(others.values);
  const auto renewed = renews.solve(b, x);
  const auto hash = collective_hash(job, a, x);
  CHECK(renewed.setup_seconds > 0);
  CHECK(keeps.solve(b, x).converged());
  const auto fresh = Matrix::from_rows(job, others.rows());
  Solver solver(fresh, {{"preconditioner", "jacobi"}});
  CHECK(solver.solve(b, x).iterations == renewed.iterations);
  CHECK(collective_hash(job, fresh, x) == hash);
}

TEST_CASE("amg takes new values with the aggregates that it has") {
  const Job job = make_job();
  TridiagonalRows rows(row_count, job.rank(), job.size());
  Matrix a = Matrix::from_rows(job, rows.rows());
  const std::vector<double> b = a.right_hand_side();
  std::vector<double> x(b.size());
  Solver solver(a, {{"preconditioner", "amg:direct=10"}});
  const auto first = solver.solve(b, x);
  CHECK(first.converged());
  std::vector<double> expected = x;
  for (double& value : expected) value /= 4;
  for (double& value : rows.values) value *= 4;
  a.update_values(rows.values);
  const auto second = solver.solve(b, x);
  CHECK(second.converged());
  CHECK(second.iterations == first.iterations);
  CHECK(x == expected);
}

/// The one-dimensional Laplacian as functions.
UserOperator laplacian(const Job& job, std::int64_t rows, bool is_threaded) {
  UserOperator user;
  user.first_row = rows * job.rank() / job.size();
  user.row_count = rows * (job.rank() + 1) / job.size() - user.first_row;
  const bool has_left = user.first_row > 0;
  const bool has_right = user.first_row + user.row_count < rows;
  if (has_left) user.halo_rows.push_back(user.first_row - 1);
  if (has_right) user.halo_rows.push_back(user.first_row + user.row_count);
  const std::int64_t count = user.row_count;
  const auto product = [=](std::int64_t i, const double* x) {
    const double left = i > 0 ? x[i - 1] : has_left ? x[count] : 0;
    const double right = i + 1 < count ? x[i + 1] : has_right ? x[count + (has_left ? 1 : 0)] : 0;
    return -left + 2 * x[i] - right;
  };
  user.interior = [=](std::int64_t first, std::int64_t last, const double* x, double* y) {
    for (std::int64_t i = std::max<std::int64_t>(first, 1); i < std::min(last, count - 1); ++i)
      y[i] = product(i, x);
  };
  user.boundary = [=](std::int64_t first, std::int64_t last, const double* x, double* y) {
    for (const std::int64_t i : {std::int64_t{0}, count - 1})
      if (i >= first && i < last) y[i] = product(i, x);
  };
  user.diagonal = [](std::span<double> diagonal) { std::ranges::fill(diagonal, 2.0); };
  user.is_threaded = is_threaded;
  return user;
}

TEST_CASE("an operator of the caller is solved as its matrix, in every mode") {
  const Job job = make_job();
  const bool is_threaded = GENERATE(false, true);
  const Matrix a = Matrix::from_operator(job, laplacian(job, 60, is_threaded));
  for (const char* const mode : {"vector", "overlap", "overlap-test", "task"}) {
    for (const char* const method : {"cg", "cg-one-reduction", "cg-pipelined", "gmres"}) {
      INFO(mode << " " << method);
      Options options{{"mode", mode}, {"method", method}, {"preconditioner", "jacobi"}};
      if (method == std::string("gmres")) options.set("restart", "80");
      const auto solved = collective_solve(job, a, options);
      CHECK(solved.report.converged());
    }
  }
  const Job alone(MPI_COMM_SELF, {.threads = 1});
  const Matrix all = Matrix::from_operator(alone, laplacian(alone, 60, false));
  CHECK(collective_solve(job, a, {}).hash == collective_solve(alone, all, {}).hash);
}

TEST_CASE("a preconditioner of the caller does what the same of weft does") {
  const Job job = make_job();
  for (const char* const kind : {"matrix", "stencil"}) {
    const Matrix a = Matrix::generate(job, "poisson3d:12", {{"operator", kind}});
    const UserPreconditioner sixth{.apply = [](std::span<const double> r, std::span<double> z) {
      for (std::size_t i = 0; i < r.size(); ++i) z[i] = r[i] / 6;
    }};
    Solver own(a, {{"method", "cg"}}, sixth);
    const std::vector<double> b = a.right_hand_side();
    std::vector<double> x(b.size());
    const auto report = own.solve(b, x);
    CHECK(report.converged());
    Solver jacobi(a, {{"preconditioner", "jacobi"}});
    CHECK(jacobi.solve(b, x).iterations == report.iterations);
  }
}

/// The rows of `rows` as those of nodes with `block` rows each: a matrix for each of them.
struct NodeSystem {
  NodeSystem(const Job& job, std::int64_t nodes, int block) {
    const TridiagonalRows of_nodes(nodes, job.rank(), job.size());
    first_row = of_nodes.first_row * block;
    offsets.push_back(0);
    for (std::size_t node = 0; node < of_nodes.count(); ++node)
      for (int r = 0; r < block; ++r) {
        for (auto k = static_cast<std::size_t>(of_nodes.offsets[node]);
             k < static_cast<std::size_t>(of_nodes.offsets[node + 1]); ++k) {
          columns.push_back(of_nodes.columns[k] * block + r);
          values.push_back(of_nodes.values[k]);
        }
        offsets.push_back(static_cast<std::int64_t>(columns.size()));
      }
  }
  Rows rows() const { return {first_row, offsets, columns, values}; }

  std::int64_t first_row = 0;
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> columns;
  std::vector<double> values;
};

/// An array of `columns` numbers for each of `count` rows from `first` on.
std::vector<double> table_of(std::int64_t first, std::int64_t count, int columns) {
  std::vector<double> values;
  for (std::int64_t row = first; row < first + count; ++row)
    for (int c = 0; c < columns; ++c)
      values.push_back(c == 0 ? 1.0 : static_cast<double>((row * (c + 2)) % 17));
  return values;
}

void write_table(const Job& job, const std::string& path, std::int64_t count, int columns) {
  if (job.rank() == 0) {
    std::ofstream file(path);
    file << "%%MatrixMarket matrix array real general\n" << count << ' ' << columns << '\n';
    const std::vector<double> values = table_of(0, count, columns);
    for (int c = 0; c < columns; ++c)
      for (std::int64_t row = 0; row < count; ++row)
        file << values[static_cast<std::size_t>(row * columns + c)] << '\n';
  }
  MPI_Barrier(job.communicator());
}

TEST_CASE("vectors in arrays give the bits that files give") {
  const Job job = make_job();
  constexpr int block = 2;
  constexpr std::int64_t nodes = 2500;
  const NodeSystem system(job, nodes, block);
  const Matrix a = Matrix::from_rows(job, system.rows());
  const std::int64_t count = a.local_row_count();
  const std::vector<double> b = a.right_hand_side("random:3");
  const auto hash_of = [&](Solver&& solver) {
    std::vector<double> x(b.size());
    CHECK(solver.solve(b, x).converged());
    return collective_hash(job, a, x);
  };
  const Options amg{{"preconditioner", "amg"}, {"block-size", "2"}};
  Options from_file = amg;
  write_table(job, "near_null_of_solve_test.mtx", nodes * block, 3);
  from_file.set("near-null", "near_null_of_solve_test.mtx");
  const std::vector<double> near_null = table_of(system.first_row, count, 3);
  CHECK(hash_of(Solver(a, from_file)) ==
        hash_of(Solver(a, amg, SolverVectors{.near_null = near_null, .near_null_count = 3})));

  Options with_places{{"preconditioner", "amg"}};
  write_table(job, "coordinates_of_solve_test.mtx", nodes, 2);
  with_places.set("coordinates", "coordinates_of_solve_test.mtx");
  std::vector<double> coordinates;
  for (std::int64_t row = 0; row < count; ++row)
    for (const double value : table_of((system.first_row + row) / block, 1, 2))
      coordinates.push_back(value);
  CHECK(hash_of(Solver(a, with_places)) ==
        hash_of(Solver(a, {{"preconditioner", "amg"}},
                       SolverVectors{.coordinates = coordinates, .dimensions = 2})));

  CHECK_THROWS_WITH(Solver(a, {}, SolverVectors{.near_null = near_null, .near_null_count = 3}),
                    Catch::Contains("near-null: found with preconditioner=none; expected amg"));
  CHECK_THROWS_WITH(Solver(a, amg, SolverVectors{.near_null = b, .near_null_count = 3}),
                    Catch::Contains("values; expected"));
}

TEST_CASE("a null space in an array is that of the word") {
  const Job job = make_job();
  TridiagonalRows rows(1000, job.rank(), job.size());
  for (std::size_t row = 0; row < rows.count(); ++row) {
    double sum = 0;
    std::size_t diagonal = 0;
    for (auto k = static_cast<std::size_t>(rows.offsets[row]);
         k < static_cast<std::size_t>(rows.offsets[row + 1]); ++k) {
      if (rows.columns[k] == rows.first_row + static_cast<std::int64_t>(row))
        diagonal = k;
      else
        sum += rows.values[k];
    }
    rows.values[diagonal] = -sum;
  }
  const Matrix a = Matrix::from_rows(job, rows.rows());
  const std::vector<double> b = a.right_hand_side("x-random:3");
  const std::vector<double> ones(b.size(), 1.0);
  std::vector<double> x(b.size());
  Solver by_word(a, {{"null-space", "constant"}});
  const Report expected = by_word.solve(b, x);
  Solver by_array(a, {}, SolverVectors{.null_space = ones});
  const Report report = by_array.solve(b, x);
  CHECK(report.converged());
  CHECK(report.iterations == expected.iterations);
  CHECK(report.null_space == "an array");
}

TEST_CASE("options that contradict each other, or the matrix, are errors") {
  const Job job = make_job();
  const Matrix a = Matrix::generate(job, "poisson2d:10");
  const auto fault_of = [&](const Options& options) {
    try {
      const Solver solver(a, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK(fault_of({{"method", "sor"}}).find("found 'sor'; expected auto") != std::string::npos);
  CHECK(fault_of({{"tolerence", "1"}}).find("unknown name") != std::string::npos);
  CHECK(fault_of({{"method", "multigrid"}}) == "nothing");
  CHECK(fault_of({{"method", "multigrid"}, {"multigrid", "start=full"}})
            .find("expected operator=stencil") != std::string::npos);
  CHECK(fault_of({{"preconditioner", "schwarz:kind=restricted"}}).find("gmres or fcg") !=
        std::string::npos);
  std::vector<double> x(static_cast<std::size_t>(a.local_row_count()));
  Solver solver(a);
  CHECK_THROWS_AS(solver.solve(std::span(x).first(0), x), Error);
}

}  // namespace
}  // namespace weft::tests
