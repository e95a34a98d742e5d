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
#include "solver/report/stop_rule.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/solver/krylov/test_matrices.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::convection;
using tests::dot;
using tests::MatrixSystem;
using tests::multiply;
using tests::ReferenceMatrix;
using tests::some_vector;
using tests::Vector;

struct Reference {
  Vector x;
  std::int64_t iterations = 0;
};

/// The textbook's method, line by line. `diagonal`: divides, from the right.
Reference reference(const ReferenceMatrix& a, const Vector& b, const Vector& diagonal,
                    double tolerance) {
  const std::size_t n = b.size();
  const auto divided = [&](Vector v) {
    for (std::size_t i = 0; i < n; ++i) v[i] /= diagonal[i];
    return v;
  };
  Reference result{Vector(n), 0};
  Vector r = b;
  const Vector shadow = b;
  Vector p = r;
  double rho = dot(shadow, r);
  while (std::sqrt(dot(r, r)) >= tolerance * std::sqrt(dot(b, b))) {
    const Vector p_hat = divided(p);
    const Vector v = multiply(a, p_hat);
    const double alpha = rho / dot(shadow, v);
    Vector s = r;
    for (std::size_t i = 0; i < n; ++i) s[i] -= alpha * v[i];
    const Vector s_hat = divided(s);
    const Vector t = multiply(a, s_hat);
    const double omega = dot(t, s) / dot(t, t);
    for (std::size_t i = 0; i < n; ++i) result.x[i] += alpha * p_hat[i] + omega * s_hat[i];
    for (std::size_t i = 0; i < n; ++i) r[i] = s[i] - omega * t[i];
    const double next = dot(shadow, r);
    const double beta = next / rho * (alpha / omega);
    rho = next;
    for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + beta * (p[i] - omega * v[i]);
    ++result.iterations;
  }
  return result;
}

struct Solved {
  SolveReport report;
  Vector x;
};
Solved solve(MatrixSystem& system, const std::string& name, const Vector& b,
             KrylovMethod::Options options) {
  const auto method = find_krylov_method(name)->collective_make(system.op(), options);
  const SolveReport report = method->solve(system.part_of(b));
  return {report, Vector(method->solution().begin(), method->solution().end())};
}

}  // namespace

TEST_CASE("BiCGStab and its pipelined form take the iterations of the textbook's, to its x") {
  const ReferenceMatrix a = convection(12);
  const Vector b = some_vector(a.size());
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  DiagonalPreconditioner jacobi(system.op());
  for (const bool has_jacobi : {false, true}) {
    Vector diagonal(a.size(), 1.0);
    if (has_jacobi)
      for (std::size_t i = 0; i < a.size(); ++i)
        diagonal[i] = a[i].at(static_cast<std::int64_t>(i));
    const Reference expected = reference(a, b, diagonal, 1e-8);
    for (const std::string name : {"bicgstab", "bicgstab-pipelined"}) {
      CAPTURE(name, has_jacobi);
      KrylovMethod::Options options;
      if (has_jacobi) options.preconditioner = &jacobi;
      const Solved found = solve(system, name, b, options);
      CHECK(found.report.status == SolveStatus::converged);
      CHECK(found.report.iterations == expected.iterations);
      CHECK(found.report.restarts == 0);
      CHECK(found.report.relative_residual < 1.1e-8);
      CHECK(found.report.recurrence_residual ==
            Approx(found.report.relative_residual).epsilon(1e-3));
      const Vector own = system.part_of(expected.x);
      for (std::size_t i = 0; i < own.size(); ++i)
        CHECK(found.x[i] == Approx(own[i]).epsilon(1e-6).margin(1e-6));
    }
  }
}

TEST_CASE("a matrix whose symmetric part is zero is a breakdown of BiCGStab that names gmres") {
  ReferenceMatrix skew(20);
  for (int i = 0; i < 19; ++i) {
    skew[static_cast<std::size_t>(i)][i + 1] = 1;
    skew[static_cast<std::size_t>(i + 1)][i] = -1;
  }
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, skew);
  for (const std::string name : {"bicgstab", "bicgstab-pipelined"}) {
    CAPTURE(name);
    const Solved found = solve(system, name, Vector(20, 1.0), {});
    CHECK(found.report.status == SolveStatus::breakdown);
    CHECK(found.report.iterations == 0);
    CHECK(found.report.explanation.find("gmres") != std::string::npos);
    CHECK(found.report.relative_residual == 1);
  }
}

TEST_CASE("BiCGStab begins again where its recurrence has lost the residual") {
  const ReferenceMatrix a = convection(20);
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  KrylovMethod::Options options;
  options.stop.tolerance = 2e-15;
  const Solved found = solve(system, "bicgstab-pipelined", some_vector(a.size()), options);
  CHECK(found.report.restarts > 0);
  CHECK((found.report.status != SolveStatus::converged ||
         found.report.relative_residual <= StopRule::allowed_drift * 2e-15));
  CHECK(found.report.relative_residual < 1e-14);
}

TEST_CASE("BiCGStab converges where a residual falls to nothing within one step") {
  ReferenceMatrix a(10);  // its Krylov spaces are at most the whole space
  for (int i = 0; i < 10; ++i) {
    a[static_cast<std::size_t>(i)][i] = 2;
    if (i > 0) a[static_cast<std::size_t>(i)][i - 1] = -1;
  }
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  for (const std::string name : {"bicgstab", "bicgstab-pipelined"})
    for (int k = 1; k <= 40; ++k) {
      CAPTURE(name, k);
      Vector b(10);
      for (std::size_t i = 0; i < 10; ++i)
        b[i] = 0.5 + 0.5 * std::sin(static_cast<double>(k) * static_cast<double>(i + 1));
      KrylovMethod::Options options;
      options.stop.tolerance = 1e-10;
      const Solved found = solve(system, name, b, options);
      CHECK(found.report.status == SolveStatus::converged);
      CHECK(found.report.relative_residual < 1.1e-10);
    }
}

TEST_CASE("BiCGStab solves zeros at once, ends after so many iterations and sees an overflow") {
  const ReferenceMatrix a = convection(8);
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  for (const std::string name : {"bicgstab", "bicgstab-pipelined"}) {
    CAPTURE(name);
    const Solved zero = solve(system, name, Vector(64), {});
    CHECK(zero.report.status == SolveStatus::converged);
    CHECK(zero.report.iterations == 0);
    KrylovMethod::Options few;
    few.stop.max_iterations = 3;
    const Solved cut = solve(system, name, some_vector(64), few);
    CHECK(cut.report.status == SolveStatus::not_converged);
    CHECK(cut.report.iterations == 3);
    const Solved overflow = solve(system, name, Vector(64, 1e200), {});
    CHECK(overflow.report.status == SolveStatus::breakdown);
    CHECK(!overflow.report.explanation.empty());
  }
}

/// A cyclic shift, of which r·A·r is nearly 0: α and x become huge.
ReferenceMatrix shift(std::int64_t n) {
  ReferenceMatrix a(static_cast<std::size_t>(n));
  for (std::int64_t row = 0; row < n; ++row) a[static_cast<std::size_t>(row)][(row + 1) % n] = 1;
  return a;
}

/// Entries behind the diagonal, and their negatives before it.
ReferenceMatrix skew(std::int64_t n) {
  ReferenceMatrix a(static_cast<std::size_t>(n));
  for (std::int64_t row = 0; row + 1 < n; ++row) {
    a[static_cast<std::size_t>(row)][row + 1] = 1 + static_cast<double>(row);
    a[static_cast<std::size_t>(row) + 1][row] = -1 - static_cast<double>(row);
  }
  return a;
}

TEST_CASE("a breakdown leaves the x with the least residual of all") {
  const auto world = Communicator::collective_world();
  for (const std::string name : {"bicgstab", "bicgstab-pipelined"}) {
    int risen = 0;
    for (const ReferenceMatrix& a : {shift(6), shift(50), skew(50)}) {
      MatrixSystem system(world, a);
      for (int seed = 1; seed < 8; ++seed) {
        Vector b(a.size());
        for (std::size_t i = 0; i < b.size(); ++i)
          b[i] = std::sin(seed * (1 + static_cast<double>(i * i)));
        KrylovMethod::Options options;
        options.stop.max_iterations = 300;
        options.stop.divergence = 1e6;
        double least = 1;
        double last = 1;
        options.on_iteration = [&](std::int64_t, double residual) {
          last = residual;
          least = std::min(least, residual);
        };
        const Solved solved = solve(system, name, b, options);
        const SolveReport& report = solved.report;
        CAPTURE(name, a.size(), seed, report.explanation);
        if (report.status != SolveStatus::breakdown && report.status != SolveStatus::diverged)
          continue;
        CHECK(report.recurrence_residual <= least);
        CHECK(report.relative_residual == Approx(report.recurrence_residual).epsilon(1e-6));
        if (!(last <= least)) ++risen;
      }
    }
    CHECK(risen > 0);
  }
}

}  // namespace weft::solver
