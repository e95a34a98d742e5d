// Sums whose bounds are far off: rows that differ in scale, residuals that jump.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "solver/krylov/method.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::MatrixSystem;
using tests::ReferenceMatrix;
using tests::Vector;

struct UnevenSystem {
  ReferenceMatrix a;
  Vector b;
};

UnevenSystem jumping_coefficients() {
  ReferenceMatrix a = tests::reference_matrix(spmv::Problem::parse("diffusion3d:9,jumps:1e5"));
  Vector b(a.size(), 1.0);
  return {std::move(a), std::move(b)};
}

/// Poisson's equation with weights on some diagonal entries; b makes r·r jump, because it is none
/// of them.
UnevenSystem penalty(double weight) {
  UnevenSystem system{tests::reference_matrix(spmv::Problem::parse("poisson2d:14")), {}};
  system.b.assign(system.a.size(), 0.0);
  for (std::size_t row = 0; row < system.a.size(); ++row)
    system.b[row] = std::sin(static_cast<double>(row));
  for (std::size_t row = 3; row < system.a.size(); row += 67)
    system.a[row][static_cast<std::int64_t>(row)] = weight;
  return system;
}

/// D·A·D with D from 1e-8 to 1e8.
UnevenSystem scaled() {
  UnevenSystem system{tests::reference_matrix(spmv::Problem::parse("poisson2d:14")), {}};
  const auto scale = [](auto row) { return std::pow(10.0, static_cast<double>(row * 7 % 17) - 8); };
  for (std::size_t row = 0; row < system.a.size(); ++row) {
    for (auto& [column, value] : system.a[row]) value *= scale(row) * scale(column);
    system.b.push_back(scale(row) * std::sin(static_cast<double>(row)));
  }
  return system;
}

struct UnevenSolution {
  SolveReport report;
  Vector x;
};

UnevenSolution solve_uneven(MatrixSystem& system, const std::string& name, const Vector& b,
                            bool has_jacobi) {
  DiagonalPreconditioner jacobi(system.op());
  KrylovMethod::Options options;
  options.preconditioner = has_jacobi ? &jacobi : nullptr;
  options.stop.max_iterations = 400;
  const auto method = find_krylov_method(name)->collective_make(system.op(), options);
  SolveReport report = method->solve(system.part_of(b));
  return {std::move(report), Vector(method->solution().begin(), method->solution().end())};
}

/// The same on all ranks together as on one alone; returns the report.
SolveReport check_bits(const UnevenSystem& whole, const std::string& name, bool has_jacobi) {
  CAPTURE(name, has_jacobi);
  const auto world = Communicator::collective_world();
  MatrixSystem together(world, whole.a);
  const UnevenSolution solved = solve_uneven(together, name, whole.b, has_jacobi);
  const auto self = Communicator::self();
  MatrixSystem alone(self, whole.a);
  const UnevenSolution expected = solve_uneven(alone, name, whole.b, has_jacobi);
  CHECK(solved.report.status == expected.report.status);
  CHECK(solved.report.iterations == expected.report.iterations);
  CHECK(std::ranges::equal(solved.x, together.part_of(expected.x), {},
                           std::bit_cast<std::uint64_t, double>,
                           std::bit_cast<std::uint64_t, double>));
  return solved.report;
}

TEST_CASE("variants of conjugate gradients take as many iterations on rows of uneven scale") {
  for (const UnevenSystem& system : {jumping_coefficients(), penalty(1e16), scaled()}) {
    const SolveReport textbook = check_bits(system, "cg", true);
    CHECK(textbook.status == SolveStatus::converged);
    for (const std::string name : {"cg-one-reduction", "cg-pipelined", "cg-pipelined-pr"}) {
      const SolveReport report = check_bits(system, name, true);
      CAPTURE(name);
      CHECK(report.status == SolveStatus::converged);
      CHECK(report.iterations <= textbook.iterations + 4);
    }
  }
}

TEST_CASE("bits are the same where r·r jumps") {
  for (const double weight : {1e5, 1e10, 1e16})
    for (const std::string name : {"cg", "cg-one-reduction", "cg-pipelined", "cg-pipelined-pr"}) {
      CAPTURE(weight);
      check_bits(penalty(weight), name, false);
    }
}

}  // namespace
}  // namespace weft::solver
