#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "solver/krylov/method.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/solver/krylov/test_matrices.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::MatrixSystem;
using tests::ReferenceMatrix;
using tests::shifted_laplacian;
using tests::some_vector;
using tests::Vector;

struct RecordedSolve {
  SolveReport report;
  Vector x;
  std::vector<double> residuals;  // of the primary thread, after each iteration
};
RecordedSolve record(MatrixSystem& system, const std::string& name, const Vector& b,
                     KrylovMethod::Options options) {
  RecordedSolve solved;
  options.on_iteration = [&](std::int64_t, double residual) {
    solved.residuals.push_back(residual);
  };
  const auto method = find_krylov_method(name)->collective_make(system.op(), options);
  solved.report = method->solve(system.part_of(b));
  solved.x.assign(method->solution().begin(), method->solution().end());
  return solved;
}

}  // namespace

TEST_CASE("MINRES has the residuals of GMRES without restarts on an indefinite matrix") {
  const ReferenceMatrix a = shifted_laplacian(9, 1.3);
  const Vector b = some_vector(a.size());
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  KrylovMethod::Options options;
  options.restart = 200;
  options.stop.tolerance = 1e-6;
  const RecordedSolve expected = record(system, "gmres", b, options);
  const RecordedSolve found = record(system, "minres", b, options);
  CHECK(expected.report.status == SolveStatus::converged);
  CHECK(found.report.status == SolveStatus::converged);
  CHECK(found.report.relative_residual < 1.1e-6);
  CHECK(found.report.recurrence_residual == Approx(found.report.relative_residual).epsilon(1e-3));
  const std::size_t count = std::min<std::size_t>(30, expected.residuals.size());
  CHECK(count > 20);
  for (std::size_t i = 0; i < count && i < found.residuals.size(); ++i)
    CHECK(found.residuals[i] == Approx(expected.residuals[i]).epsilon(1e-6));
  CHECK(std::ranges::is_sorted(found.residuals, std::greater<>()));
}

TEST_CASE("preconditioned MINRES stops by the residual itself") {
  ReferenceMatrix a = shifted_laplacian(12, 0);
  const Vector b = some_vector(a.size());
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  DiagonalPreconditioner jacobi(system.op());
  KrylovMethod::Options options;
  options.preconditioner = &jacobi;
  const RecordedSolve found = record(system, "minres", b, options);
  const RecordedSolve cg = record(system, "cg", b, options);
  CHECK(found.report.status == SolveStatus::converged);
  CHECK(found.report.restarts == 0);
  CHECK(found.report.relative_residual < 1.1e-8);
  CHECK(found.report.recurrence_residual == Approx(found.report.relative_residual).epsilon(1e-3));
  CHECK(std::abs(found.report.iterations - cg.report.iterations) <= 3);
}

TEST_CASE("MINRES ends with the least squares solution of a system that has none, and says so") {
  ReferenceMatrix a(30);  // Neumann's problem in one dimension
  for (std::int64_t i = 0; i < 30; ++i)
    for (const std::int64_t j : {i - 1, i + 1})
      if (j >= 0 && j < 30) {
        a[static_cast<std::size_t>(i)][j] = -1;
        a[static_cast<std::size_t>(i)][i] += 1;
      }
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  const Vector b = some_vector(30);
  const RecordedSolve found = record(system, "minres", b, {});
  double mean = 0;
  for (const double value : b) mean += value / 30;
  CHECK(found.report.status == SolveStatus::breakdown);
  CHECK(found.report.explanation.find("least residual") != std::string::npos);
  CHECK(found.report.relative_residual ==
        Approx(std::abs(mean) * std::sqrt(30 / tests::dot(b, b))).epsilon(1e-6));
  Vector reachable = b;
  for (double& value : reachable) value -= mean;
  const RecordedSolve consistent = record(system, "minres", reachable, {});
  CHECK(consistent.report.status == SolveStatus::converged);
}

TEST_CASE("MINRES goes back to the least residual where rounding lets it iterate beyond") {
  constexpr std::int64_t size = 1000;
  ReferenceMatrix a(size);
  for (std::int64_t i = 0; i < size; ++i)
    a[static_cast<std::size_t>(i)][i] = static_cast<double>(i + 1) / size;
  constexpr std::size_t row = 500;
  for (const double value : {0.0, 1e-7}) {
    a[row][row] = value;
    CAPTURE(value);
    const auto world = Communicator::collective_world();
    MatrixSystem system(world, a);
    KrylovMethod::Options options;
    options.stop.max_iterations = 3000;
    const RecordedSolve found = record(system, "minres", Vector(size, 1.0), options);
    CAPTURE(found.report.explanation);
    if (value > 0) {
      CHECK(found.report.status == SolveStatus::converged);
      continue;
    }
    CHECK(found.report.status == SolveStatus::breakdown);
    CHECK(found.report.explanation.find("least residual") != std::string::npos);
    CHECK(found.report.relative_residual == Approx(std::sqrt(1.0 / size)).epsilon(1e-6));
    CHECK(found.report.recurrence_residual == Approx(std::sqrt(1.0 / size)).epsilon(1e-6));
    CHECK(found.report.iterations < 1000);
    options.stop.max_iterations = found.report.iterations - 1;
    const RecordedSolve cut = record(system, "minres", Vector(size, 1.0), options);
    CHECK(cut.report.relative_residual == Approx(std::sqrt(1.0 / size)).epsilon(1e-6));
  }
}

TEST_CASE("MINRES refuses a preconditioner that is not positive definite") {
  const ReferenceMatrix a = shifted_laplacian(9, 5);  // negative on the diagonal
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  DiagonalPreconditioner jacobi(system.op());
  KrylovMethod::Options options;
  options.preconditioner = &jacobi;
  const RecordedSolve found = record(system, "minres", some_vector(a.size()), options);
  CHECK(found.report.status == SolveStatus::breakdown);
  CHECK(found.report.explanation.find("not positive definite") != std::string::npos);
}

}  // namespace weft::solver
