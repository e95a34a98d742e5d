// Systems whose numbers leave the range, or the digits, of double.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "solver/krylov/method.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::MatrixSystem;
using tests::ReferenceMatrix;
using tests::Vector;

/// Poisson's equation, of which some rows are fixed to given values by a weight on their diagonal.
struct Penalty {
  ReferenceMatrix a = tests::reference_matrix(spmv::Problem::parse("poisson2d:20"));
  Vector b = Vector(a.size(), 0.0);
  Penalty() {
    constexpr double weight = 1e16;
    for (std::size_t row = 0; row < 20; ++row) {
      a[row][static_cast<std::int64_t>(row)] = weight;
      b[row] = weight * (1 + 0.1 * static_cast<double>(row));
    }
  }
};

SolveReport solve(MatrixSystem& system, const std::string& name, const Vector& b,
                  const Vector& guess, const KrylovMethod::Options& options) {
  const auto method = find_krylov_method(name)->collective_make(system.op(), options);
  if (guess.empty()) return method->solve(system.part_of(b));
  return method->solve(system.part_of(b), system.part_of(guess));
}

TEST_CASE("a b whose squares leave the range of double is refused, with a guess as without") {
  const ReferenceMatrix a = tests::reference_matrix(spmv::Problem::parse("poisson2d:12"));
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  for (const double value : {1e-158, 1e-161, 1e-170, 1e-320, 1e200})
    for (const std::string name : {"cg", "bicgstab", "minres", "gmres", "cg-pipelined"})
      for (const Vector& guess : {Vector(), Vector(a.size(), 1e-165)}) {
        CAPTURE(value, name, guess.size());
        const SolveReport report = solve(system, name, Vector(a.size(), value), guess, {});
        CHECK(report.status == SolveStatus::breakdown);
        CHECK_THAT(report.explanation, Catch::Contains("scale the system"));
        CHECK(report.relative_residual == 1);
        CHECK(report.recurrence_residual == 1);
      }
  const SolveReport report = solve(system, "cg", Vector(a.size(), 1e-130), {}, {});
  CHECK(report.status == SolveStatus::converged);
}

/// The identity at first; after three applications its result is no number.
class FailingPreconditioner final : public Preconditioner {
 public:
  explicit FailingPreconditioner(std::size_t size) : size_(size) {}
  void apply(const comm_thread::TeamThread& thread, const double* r, double* z) override {
    if (thread.is_primary()) {
      const double factor = ++count_ > 3 ? std::numeric_limits<double>::quiet_NaN() : 1;
      for (std::size_t i = 0; i < size_; ++i) z[i] = r[i] * factor;
    }
    thread.barrier();
  }
  bool is_symmetric() const override { return true; }
  double norm() const override { return 1; }

 private:
  std::size_t size_;
  int count_ = 0;
};

TEST_CASE("a residual that is not finite ends every method, which says so") {
  const ReferenceMatrix a = tests::reference_matrix(spmv::Problem::parse("poisson2d:12"));
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  for (const std::string name : {"cg", "fcg", "cg-one-reduction", "cg-pipelined", "cg-pipelined-pr",
                                 "minres", "bicgstab", "bicgstab-pipelined", "gmres", "fgmres"}) {
    CAPTURE(name);
    FailingPreconditioner failing(system.op().element_count());
    KrylovMethod::Options options;
    options.preconditioner = &failing;
    const SolveReport report = solve(system, name, Vector(a.size(), 1.0), {}, options);
    CAPTURE(report.explanation);
    CHECK(report.status == SolveStatus::breakdown);
    CHECK(report.iterations < 50);
    CHECK(!report.explanation.empty());
  }
}

TEST_CASE(
    "a method whose rate promises too many iterations is given up where another one is left") {
  // Eigenvalues from 1 to 2500 of which minres makes the same of the residual in each iteration:
  // 437 to 1e-8.
  ReferenceMatrix a(1200);
  for (std::size_t row = 0; row < a.size(); ++row)
    a[row][static_cast<std::int64_t>(row)] =
        1250.5 + 1249.5 * std::cos(std::numbers::pi * (2.0 * static_cast<double>(row) + 1) / 2400);
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, a);
  KrylovMethod::Options options;
  options.stop.max_iterations = 300;
  const Vector b(a.size(), 1.0);
  CHECK(solve(system, "minres", b, {}, options).iterations == 300);
  options.patience = 50;
  const SolveReport slow = solve(system, "minres", b, {}, options);
  CHECK(slow.status == SolveStatus::breakdown);
  CHECK_THAT(slow.explanation, Catch::Contains("at this rate 300 iterations are too few"));
  CHECK(slow.iterations >= 100);
  CHECK(slow.iterations < 110);
  options.stop.max_iterations = 10000;
  CHECK(solve(system, "minres", b, {}, options).status == SolveStatus::converged);
}

TEST_CASE("rows that are fixed by a weight of 1e16 do not break down") {
  const Penalty penalty;
  const auto world = Communicator::collective_world();
  MatrixSystem system(world, penalty.a);
  DiagonalPreconditioner jacobi(system.op());
  KrylovMethod::Options options;
  options.preconditioner = &jacobi;
  for (const std::string name : {"cg", "cg-one-reduction"}) {
    CAPTURE(name);
    const SolveReport report = solve(system, name, penalty.b, {}, options);
    CHECK(report.status == SolveStatus::converged);
  }
}

}  // namespace
}  // namespace weft::solver
