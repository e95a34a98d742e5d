#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/krylov/gmres.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/solver/krylov/test_matrices.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using spmv::Mode;
using spmv::Problem;
using tests::convection;
using tests::dot;
using tests::MatrixSystem;
using tests::multiply;
using tests::ReferenceMatrix;
using tests::some_vector;
using tests::Vector;

/// x of the textbook's GMRES(restart), by modified Gram-Schmidt and the normal equations of the
/// small problem. `diagonal`: divides, from the right.
struct Reference {
  Vector x;
  std::int64_t iterations = 0;
};
Reference reference(const ReferenceMatrix& a, const Vector& b, const Vector& diagonal, int restart,
                    double tolerance) {
  const std::size_t n = b.size();
  Reference result{Vector(n), 0};
  Vector r = b;
  const double first = std::sqrt(dot(b, b));
  while (std::sqrt(dot(r, r)) >= tolerance * first) {
    std::vector<Vector> v{r};
    for (double& value : v[0]) value /= std::sqrt(dot(r, r));
    std::vector<Vector> image;  // A·M·v, of which a combination comes nearest to r
    std::vector<Vector> orthogonal;
    Vector rest = r;
    while (static_cast<int>(image.size()) < restart &&
           std::sqrt(dot(rest, rest)) >= tolerance * first) {
      Vector z = v.back();
      for (std::size_t i = 0; i < n; ++i) z[i] /= diagonal[i];
      image.push_back(multiply(a, z));
      Vector q = image.back();  // the part that it adds to the previous images
      for (const Vector& other : orthogonal) {
        const double factor = dot(other, q);
        for (std::size_t i = 0; i < n; ++i) q[i] -= factor * other[i];
      }
      const double norm = std::sqrt(dot(q, q));
      for (double& value : q) value /= norm;
      orthogonal.push_back(q);
      const double share = dot(q, rest);
      for (std::size_t i = 0; i < n; ++i) rest[i] -= share * q[i];
      Vector w = image.back();
      for (const Vector& other : v) {
        const double factor = dot(other, w);
        for (std::size_t i = 0; i < n; ++i) w[i] -= factor * other[i];
      }
      const double length = std::sqrt(dot(w, w));
      for (double& value : w) value /= length;
      v.push_back(w);
      ++result.iterations;
    }
    // image·y = r - rest, by elimination of the orthogonal factor: R·y = Qᵀ·r.
    const std::size_t count = image.size();
    Vector y(count);
    for (std::size_t i = count; i-- > 0;) {
      y[i] = dot(orthogonal[i], r);
      for (std::size_t j = i + 1; j < count; ++j) y[i] -= dot(orthogonal[i], image[j]) * y[j];
      y[i] /= dot(orthogonal[i], image[i]);
    }
    for (std::size_t j = 0; j < count; ++j)
      for (std::size_t i = 0; i < n; ++i) result.x[i] += y[j] * v[j][i] / diagonal[i];
    const Vector product = multiply(a, result.x);
    for (std::size_t i = 0; i < n; ++i) r[i] = b[i] - product[i];
  }
  return result;
}

KrylovMethod::Options options(int restart, double tolerance,
                              Preconditioner* preconditioner = nullptr) {
  KrylovMethod::Options options;
  options.preconditioner = preconditioner;
  options.stop = {tolerance, 2000};
  options.restart = restart;
  return options;
}

struct Solved {
  SolveReport report;
  Vector x;
};
Solved solve(MatrixSystem& system, const Vector& b, const KrylovMethod::Options& options) {
  Gmres method(system.op(), options);
  const SolveReport report = method.solve(system.part_of(b));
  return {report, Vector(method.solution().begin(), method.solution().end())};
}

}  // namespace

TEST_CASE("GMRES takes the iterations of the textbook's, with and without restarts, to its x") {
  const ReferenceMatrix a = convection(12);
  const Vector b = some_vector(a.size());
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  DiagonalPreconditioner jacobi(system.op());
  for (const bool has_jacobi : {false, true})
    for (const int restart : {4, 9, 100}) {
      CAPTURE(restart, has_jacobi);
      Vector diagonal(a.size(), 1.0);
      if (has_jacobi)
        for (std::size_t i = 0; i < a.size(); ++i)
          diagonal[i] = a[i].at(static_cast<std::int64_t>(i));
      const Reference expected = reference(a, b, diagonal, restart, 1e-8);
      const Solved found = solve(system, b, options(restart, 1e-8, has_jacobi ? &jacobi : nullptr));
      CHECK(found.report.status == SolveStatus::converged);
      CHECK(found.report.iterations == expected.iterations);
      CHECK(found.report.restarts == (expected.iterations - 1) / restart);
      CHECK(found.report.relative_residual < 1e-8);
      CHECK(found.report.recurrence_residual == Approx(found.report.relative_residual));
      const Vector own = system.part_of(expected.x);
      for (std::size_t i = 0; i < own.size(); ++i)
        CHECK(found.x[i] == Approx(own[i]).epsilon(1e-9).margin(1e-9));
    }
}

TEST_CASE("ranks, threads and modes change no bit of GMRES, whatever the preconditioner") {
  const auto world = Communicator::collective_world();
  const auto alone = Communicator::self();
  for (const std::string preconditioner : {"none", "jacobi", "symmetric", "restricted"}) {
    const bool is_schwarz = preconditioner == "symmetric" || preconditioner == "restricted";
    const ReferenceMatrix a =
        is_schwarz ? tests::reference_matrix(Problem::parse("poisson2d:30")) : convection(30);
    const Vector b = some_vector(a.size());
    MatrixSystem together(world, a);
    MatrixSystem serial(alone, a, 1);
    const auto solve_with = [&](MatrixSystem& system, Mode mode) {
      DiagonalPreconditioner jacobi(system.op());
      KrylovMethod::Options wanted =
          options(7, 1e-9, preconditioner == "jacobi" ? &jacobi : nullptr);
      wanted.mode = mode;
      if (!is_schwarz) return solve(system, b, wanted);
      SchwarzPreconditioner inverse(
          system.op(),
          {.kind = preconditioner == "restricted" ? SchwarzPreconditioner::Kind::restricted
                                                  : SchwarzPreconditioner::Kind::symmetric,
           .piece_count = 5});
      wanted.preconditioner = &inverse;
      return solve(system, b, wanted);
    };
    const Solved expected = solve_with(serial, Mode::vector);
    CHECK(expected.report.status == SolveStatus::converged);
    CHECK(expected.report.restarts > 0);
    const Vector own = together.part_of(expected.x);
    for (const Mode mode : {Mode::vector, Mode::overlap, Mode::task}) {
      CAPTURE(preconditioner, spmv::name(mode));
      const Solved found = solve_with(together, mode);
      CHECK(found.report.iterations == expected.report.iterations);
      CHECK(std::bit_cast<std::uint64_t>(found.report.recurrence_residual) ==
            std::bit_cast<std::uint64_t>(expected.report.recurrence_residual));
      CHECK(std::ranges::equal(found.x, own, {}, std::bit_cast<std::uint64_t, double>,
                               std::bit_cast<std::uint64_t, double>));
    }
  }
}

TEST_CASE("the space ends with the solution where the matrix has few eigenvalues") {
  ReferenceMatrix a(60);
  for (int i = 0; i < 60; ++i) a[static_cast<std::size_t>(i)][i] = 1 + i % 3;
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  const Solved found = solve(system, some_vector(60), options(30, 1e-14));
  CHECK(found.report.status == SolveStatus::converged);
  CHECK(found.report.iterations == 3);
}

TEST_CASE("a cycle that brings nothing is a breakdown, and a longer one is not") {
  ReferenceMatrix shift(12);  // x_i of row i + 1
  for (int i = 0; i < 12; ++i) shift[static_cast<std::size_t>(i)][(i + 1) % 12] = 1;
  Vector b(12);
  b[0] = 1;
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, shift);
  const Solved stuck = solve(system, b, options(5, 1e-8));
  CHECK(stuck.report.status == SolveStatus::breakdown);
  CHECK(stuck.report.explanation.find("longer cycles") != std::string::npos);
  CHECK(stuck.report.iterations == 5);
  CHECK(stuck.report.relative_residual == 1);
  CHECK(stuck.report.explanation.starts_with("a cycle of 5 iterations"));
  const Solved whole = solve(system, b, options(12, 1e-8));
  CHECK(whole.report.status == SolveStatus::converged);
  CHECK(whole.report.iterations == 12);
}

TEST_CASE("what cannot be solved ends with a breakdown that leaves the best x") {
  const auto world = Communicator::collective_world();
  ReferenceMatrix singular(20);
  for (int i = 0; i < 20; ++i) singular[static_cast<std::size_t>(i)][i] = i == 7 ? 0 : 2;
  MatrixSystem system(world, singular);
  const Solved found = solve(system, Vector(20, 1.0), options(30, 1e-8));
  CHECK(found.report.status == SolveStatus::breakdown);
  CHECK(found.report.relative_residual == Approx(std::sqrt(1 / 20.0)));
  Vector unreachable(20);
  unreachable[7] = 1;
  const Solved nothing = solve(system, unreachable, options(30, 1e-8));
  CHECK(nothing.report.status == SolveStatus::breakdown);
  CHECK(nothing.report.relative_residual == 1);
  CHECK(nothing.report.iterations == 1);
  CHECK(nothing.report.explanation.starts_with("a cycle of 1 iteration "));
  CHECK(std::ranges::all_of(nothing.x, [](double value) { return value == 0; }));
  CHECK_THROWS_AS(DiagonalPreconditioner(system.op()), comm_thread::InputError);
}

TEST_CASE("GMRES ends where it was told to: at once, after so many, and never above the residual") {
  const auto world = Communicator::collective_world();
  const ReferenceMatrix a = convection(8);
  MatrixSystem system(world, a);
  const Solved zero = solve(system, Vector(64), options(30, 1e-8));
  CHECK(zero.report.status == SolveStatus::converged);
  CHECK(zero.report.iterations == 0);
  KrylovMethod::Options few = options(5, 1e-8);
  few.stop.max_iterations = 7;
  std::vector<double> residuals;
  few.on_iteration = [&](std::int64_t, double residual) { residuals.push_back(residual); };
  const Solved cut = solve(system, some_vector(64), few);
  CHECK(cut.report.status == SolveStatus::not_converged);
  CHECK(cut.report.iterations == 7);
  CHECK(residuals.size() == 7);
  CHECK(std::ranges::is_sorted(residuals, std::greater<>()));
  CHECK(cut.report.relative_residual == Approx(residuals.back()));
  const Solved tight = solve(system, some_vector(64), options(30, 1e-18));
  CHECK(tight.report.status == SolveStatus::breakdown);
  CHECK(tight.report.relative_residual < 1e-14);
}

TEST_CASE("GMRES is made by its name") {
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, tests::reference_matrix(Problem::parse("poisson2d:10")));
  const auto method = find_krylov_method("gmres")->collective_make(system.op(), options(10, 1e-9));
  const SolveReport report = method->solve(system.part_of(Vector(100, 1.0)));
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.relative_residual < 1e-9);
}

}  // namespace weft::solver
