#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/methods/deflated_solve.h"
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
using tests::Vector;

/// D·L·D with Neumann's problem L on n×n points; D = 1, or varying: then D⁻¹·1 is the null space.
ReferenceMatrix neumann(int n, bool is_scaled) {
  ReferenceMatrix a(static_cast<std::size_t>(n * n));
  const auto scale = [&](int i) { return is_scaled ? 1 + 0.5 * (i % 3) : 1.0; };
  for (int i = 0; i < n * n; ++i) {
    auto& row = a[static_cast<std::size_t>(i)];
    const auto couple = [&](int j) {
      row[j] = -scale(i) * scale(j);
      row[i] += scale(i) * scale(i);
    };
    if (i % n > 0) couple(i - 1);
    if (i % n < n - 1) couple(i + 1);
    if (i >= n) couple(i - n);
    if (i + n < n * n) couple(i + n);
  }
  return a;
}

struct Solved {
  SolveReport report;
  Vector x;
};
Solved solve(MatrixSystem& system, const std::string& name, bool has_jacobi, const Vector& null,
             const Vector& b) {
  NullSpace null_space(system.op(), null.empty() ? null : system.part_of(null));
  DiagonalPreconditioner jacobi(system.op());
  DeflatedPreconditioner deflated(null_space, has_jacobi ? &jacobi : nullptr);
  KrylovMethod::Options options;
  options.preconditioner = &deflated;
  const auto method = find_krylov_method(name)->collective_make(system.op(), options);
  const SolveReport report =
      collective_solve_deflated(*method, null_space, true, options.stop, system.part_of(b));
  return {report, Vector(method->solution().begin(), method->solution().end())};
}

}  // namespace

TEST_CASE("every method solves a singular system within its range, with the same bits anywhere") {
  const auto world = Communicator::collective_world();
  const auto alone = Communicator::self();
  for (const bool is_scaled : {false, true}) {
    const ReferenceMatrix a = neumann(11, is_scaled);
    Vector null;
    if (is_scaled)
      for (int i = 0; i < 121; ++i) null.push_back(1 / (1 + 0.5 * (i % 3)));
    const Vector b = tests::multiply(a, tests::some_vector(a.size()));
    MatrixSystem together(world, a);
    MatrixSystem serial(alone, a, 1);
    for (const KrylovEntry& entry : krylov_methods()) {
      if (entry.needs_grid) continue;
      CAPTURE(entry.name, is_scaled);
      const Solved expected = solve(serial, entry.name, is_scaled, null, b);
      const Solved found = solve(together, entry.name, is_scaled, null, b);
      CHECK(expected.report.status == SolveStatus::converged);
      CHECK(expected.report.relative_residual < 1.1e-8);
      CHECK(found.report.iterations == expected.report.iterations);
      CHECK(found.x == together.part_of(expected.x));
      const Vector n = null.empty() ? Vector(121, 1.0) : null;
      CHECK(std::abs(tests::dot(n, expected.x)) <
            1e-9 * std::sqrt(tests::dot(n, n)) * std::sqrt(tests::dot(expected.x, expected.x)));
    }
  }
}

TEST_CASE("a right-hand side outside the range leaves the least residual and is not converged") {
  const auto world = Communicator::collective_world();
  const ReferenceMatrix a = neumann(8, false);
  MatrixSystem system(world, a);
  const Vector b = tests::some_vector(a.size());
  double sum = 0;
  for (const double value : b) sum += value;
  const double share = std::abs(sum) / 8 / std::sqrt(tests::dot(b, b));
  for (const std::string name : {"cg", "cg-pipelined", "minres", "gmres", "bicgstab"}) {
    CAPTURE(name);
    const Solved found = solve(system, name, true, {}, b);
    CHECK(found.report.status == SolveStatus::not_converged);
    CHECK(found.report.relative_residual == Approx(share).epsilon(1e-6));
    CHECK(found.report.explanation.find("null space") != std::string::npos);
    const Solved nothing = solve(system, name, true, {}, Vector(64, 3.0));
    CHECK(nothing.report.status == SolveStatus::not_converged);
    CHECK(nothing.report.relative_residual == Approx(1));
    CHECK(std::ranges::all_of(nothing.x, [](double value) { return value == 0; }));
  }
}

TEST_CASE("a vector that the matrix does not map to zero is refused") {
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, tests::shifted_laplacian(6, 0));
  CHECK_THROWS_WITH(NullSpace(system.op(), {}), Catch::Contains("expected 0"));
  MatrixSystem singular(world, neumann(6, false));
  CHECK_THROWS_AS(NullSpace(singular.op(), singular.part_of(Vector(36))), comm_thread::InputError);
  CHECK_NOTHROW(NullSpace(singular.op(), singular.part_of(Vector(36, 2.5))));
}

}  // namespace weft::solver
