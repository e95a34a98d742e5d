#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/krylov/conjugate_gradient.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/generator.h"
#include "spmv/problems/right_hand_side.h"
#include "spmv/sums/block_dot.h"
#include "tests/support/mpi_main.h"
#include "tests/support/serial_reference.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

using comm_thread::CommThread;
using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::ThreadLevel;
using spmv::GlobalIndex;
using spmv::Mode;
using spmv::Problem;
using spmv::RowPartition;
using Vector = std::vector<double>;

/// Of vectors, whose products weft adds without rounding.
double dot(const Vector& a, const Vector& b) {
  comm_thread::ExactAccumulator sum;
  for (std::size_t i = 0; i < a.size(); ++i) sum.add(a[i] * b[i]);
  return sum.rounded();
}

/// Of a direction and its product with the matrix, which weft adds block by block.
double dot_by_blocks(const Vector& a, const Vector& b) {
  const GlobalIndex row_count = std::ssize(a);
  const GlobalIndex block = RowPartition::block_size(row_count);
  comm_thread::ExactAccumulator sum;
  for (GlobalIndex row = 0; row < row_count; row += block)
    sum.add(spmv::block_dot(a.data() + row, b.data() + row, std::min(block, row_count - row)));
  return sum.rounded();
}

struct SerialResult {
  Vector x;
  std::int64_t iterations = 0;
};

/// Conjugate gradients as in the textbook, on one thread, with the dot products of weft.
SerialResult solve_serially(const tests::ReferenceMatrix& a, const Vector& b, bool has_jacobi,
                            double tolerance) {
  Vector x(b.size(), 0.0), r = b, z = b, p(b.size());
  const auto precondition = [&] {
    for (std::size_t i = 0; i < r.size(); ++i)
      z[i] = has_jacobi ? 1 / a[i].at(static_cast<GlobalIndex>(i)) * r[i] : r[i];
  };
  precondition();
  p = z;
  const double first = std::sqrt(dot(r, r));
  double r_dot_z = dot(r, z);
  SerialResult result;
  while (std::sqrt(dot(r, r)) >= tolerance * first && result.iterations < 1000) {
    const Vector q = tests::multiply(a, p);
    const double alpha = r_dot_z / dot_by_blocks(p, q);
    for (std::size_t i = 0; i < r.size(); ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    precondition();
    const double next = dot(r, z);
    const double beta = next / r_dot_z;
    for (std::size_t i = 0; i < r.size(); ++i) p[i] = z[i] + beta * p[i];
    r_dot_z = next;
    ++result.iterations;
  }
  result.x = x;
  return result;
}

/// The ranks, threads and communication thread of this run, and a matrix on them.
class System {
 public:
  System(const Communicator& communicator, ThreadLevel level,
         const tests::ReferenceMatrix& reference)
      : team_(tests::thread_count(), comm_thread::WaitPolicy::yield),
        comm_thread_({.thread_level = level}),
        operator_(communicator, comm_thread_, team_,
                  tests::collective_distribute(
                      communicator, team_, reference,
                      RowPartition::by_rows(std::ssize(reference), communicator.size()))) {}
  System(const Communicator& communicator, const Problem& problem)
      : team_(tests::thread_count(), comm_thread::WaitPolicy::yield),
        comm_thread_({.thread_level = tests::session().thread_level()}),
        operator_(communicator, comm_thread_, team_,
                  collective_generate(communicator, team_, problem, spmv::PartitionBy::rows)) {}

  spmv::SparseOperator& op() { return operator_; }
  const ComputeTeam& team() const { return team_; }

  /// This rank's part of a whole vector.
  Vector part_of(const Vector& whole) const {
    const auto& matrix = operator_.matrix().matrix();
    return Vector(whole.begin() + matrix.first_row(),
                  whole.begin() + matrix.first_row() + matrix.rows.row_count);
  }

 private:
  ComputeTeam team_;
  CommThread comm_thread_;
  spmv::SparseOperator operator_;
};

ConjugateGradient::Options options(double tolerance, Mode mode = Mode::task,
                                   Preconditioner* preconditioner = nullptr) {
  ConjugateGradient::Options result;
  result.mode = mode;
  result.preconditioner = preconditioner;
  result.stop.tolerance = tolerance;
  return result;
}

Vector right_hand_side(std::size_t size) {
  Vector b;
  for (std::size_t i = 0; i < size; ++i) b.push_back(std::sin(static_cast<double>(i % 97)));
  return b;
}

bool is_same(std::span<const double> a, std::span<const double> b) {
  return std::ranges::equal(a, b, {}, std::bit_cast<std::uint64_t, double>,
                            std::bit_cast<std::uint64_t, double>);
}

TEST_CASE("Hoefler's Poisson problem takes 55 and 125 iterations") {
  const auto world = Communicator::collective_world();
  const Problem problem = Problem::parse("poisson3d:50");
  System system(world, problem);
  const auto& matrix = system.op().matrix().matrix();
  Vector b(static_cast<std::size_t>(matrix.rows.row_count));
  fill(spmv::RightHandSide::parse("boundary-one"), problem, matrix.partition, matrix.rank,
       system.team(), b);
  ConjugateGradient rough(system.op(), options(1e-2));
  CHECK(rough.solve(b).iterations == 55);
  ConjugateGradient fine(system.op(), options(1e-8));
  const SolveReport report = fine.solve(b);
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.iterations == 125);
  CHECK(report.recurrence_residual < 1e-8);
  CHECK(report.relative_residual < 1.1e-8);
  // The solution is one everywhere.
  double error = 0;
  for (const double value : fine.solution()) error = std::max(error, std::abs(value - 1));
  CHECK(error < 1e-6);
}

TEST_CASE("every mode gives the bits of the serial method, with and without a thread") {
  const auto world = Communicator::collective_world();
  for (const std::string word : {"poisson3d:12", "irregular:1500", "poisson2d:9x8"})
    for (const bool has_jacobi : {false, true}) {
      CAPTURE(word, has_jacobi);
      auto reference = tests::reference_matrix(Problem::parse(word));
      if (has_jacobi)  // a diagonal that matters
        for (std::size_t row = 0; row < reference.size(); ++row)
          reference[row][static_cast<GlobalIndex>(row)] *= 1 + static_cast<double>(row % 5);
      const Vector b = right_hand_side(reference.size());
      const SerialResult expected = solve_serially(reference, b, has_jacobi, 1e-6);
      for (const ThreadLevel level : {tests::session().thread_level(), ThreadLevel::serialized}) {
        System system(world, level, reference);
        DiagonalPreconditioner jacobi(system.op());
        for (const Mode mode : {Mode::vector, Mode::overlap, Mode::task}) {
          if (level == ThreadLevel::serialized && mode == Mode::overlap) continue;  // no difference
          CAPTURE(name(mode));
          ConjugateGradient solver(system.op(),
                                   options(1e-6, mode, has_jacobi ? &jacobi : nullptr));
          const SolveReport report = solver.solve(system.part_of(b));
          CHECK(report.status == SolveStatus::converged);
          CHECK(report.iterations == expected.iterations);
          CHECK(is_same(solver.solution(), system.part_of(expected.x)));
        }
      }
    }
}

TEST_CASE("a solver solves again, with the same bits") {
  const auto world = Communicator::collective_world();
  const auto reference = tests::reference_matrix(Problem::parse("poisson2d:9x8"));
  System system(world, tests::session().thread_level(), reference);
  ConjugateGradient solver(system.op(), options(1e-8));
  const Vector b = system.part_of(right_hand_side(reference.size()));
  solver.solve(b);
  const Vector first(solver.solution().begin(), solver.solution().end());
  solver.solve(Vector(b.size(), 1.0));
  solver.solve(b);
  CHECK(is_same(solver.solution(), first));
}

TEST_CASE("an indefinite matrix breaks down and is named") {
  const auto world = Communicator::collective_world();
  tests::ReferenceMatrix reference(6);
  for (GlobalIndex row = 0; row < 6; ++row)
    reference[static_cast<std::size_t>(row)][row] = row == 5 ? -10 : 1;
  System system(world, tests::session().thread_level(), reference);
  ConjugateGradient solver(system.op(), options(1e-8));
  const SolveReport report = solver.solve(system.part_of(Vector(6, 1.0)));
  CHECK(report.status == SolveStatus::breakdown);
  CHECK(report.iterations == 0);
  CHECK_THAT(report.explanation, Catch::Contains("not positive definite"));
  CHECK(report.relative_residual == 1);
}

TEST_CASE("the iteration ends when the iterations are used up") {
  const auto world = Communicator::collective_world();
  const auto reference = tests::reference_matrix(Problem::parse("poisson3d:12"));
  System system(world, tests::session().thread_level(), reference);
  auto few = options(1e-8);
  few.stop.max_iterations = 5;
  std::vector<std::int64_t> seen;
  few.on_iteration = [&](std::int64_t iteration, double) { seen.push_back(iteration); };
  ConjugateGradient solver(system.op(), few);
  const SolveReport report = solver.solve(system.part_of(Vector(reference.size(), 1.0)));
  CHECK(report.status == SolveStatus::not_converged);
  CHECK(report.iterations == 5);
  CHECK(seen == std::vector<std::int64_t>{1, 2, 3, 4, 5});
  CHECK(report.recurrence_residual > 1e-8);
  CHECK(report.relative_residual == Approx(report.recurrence_residual).epsilon(1e-6));
}

TEST_CASE("a right-hand side of zeros is solved by zeros at once") {
  const auto world = Communicator::collective_world();
  const auto reference = tests::reference_matrix(Problem::parse("poisson2d:9x8"));
  System system(world, tests::session().thread_level(), reference);
  ConjugateGradient solver(system.op(), options(1e-8));
  const SolveReport report = solver.solve(system.part_of(Vector(reference.size(), 0.0)));
  CHECK(report.status == SolveStatus::converged);
  CHECK(report.iterations == 0);
  CHECK(report.relative_residual == 0);
  CHECK(std::ranges::count(solver.solution(), 0.0) == std::ssize(solver.solution()));
}

TEST_CASE("the diagonal alone is solved by its preconditioner in one iteration") {
  const auto world = Communicator::collective_world();
  tests::ReferenceMatrix reference(20);
  Vector b(20);
  for (GlobalIndex row = 0; row < 20; ++row) {
    reference[static_cast<std::size_t>(row)][row] = std::ldexp(1.0, static_cast<int>(row));
    b[static_cast<std::size_t>(row)] = std::ldexp(3.0, static_cast<int>(row));
  }
  System system(world, tests::session().thread_level(), reference);
  DiagonalPreconditioner diagonal(system.op());
  ConjugateGradient solver(system.op(), options(1e-8, Mode::task, &diagonal));
  const SolveReport report = solver.solve(system.part_of(b));
  CHECK(report.iterations == 1);
  CHECK(std::ranges::count(solver.solution(), 3.0) == std::ssize(solver.solution()));
}

/// Another preconditioner as one that methods know nothing about; counts its applications.
class Counting final : public Preconditioner {
 public:
  explicit Counting(Preconditioner& other) : other_(other) {}
  void apply(const comm_thread::TeamThread& thread, const double* r, double* z) override {
    if (thread.is_primary()) ++count_;
    other_.apply(thread, r, z);
  }
  double norm() const override { return other_.norm(); }
  bool is_symmetric() const override { return true; }
  std::int64_t count() const { return count_; }

 private:
  Preconditioner& other_;
  std::int64_t count_ = 0;
};

TEST_CASE("a preconditioner is applied once an iteration, not to the last residual") {
  const auto world = Communicator::collective_world();
  auto reference = tests::reference_matrix(Problem::parse("irregular:1500"));
  for (std::size_t row = 0; row < reference.size(); ++row)
    reference[row][static_cast<GlobalIndex>(row)] *= 1 + static_cast<double>(row % 5);
  System system(world, tests::session().thread_level(), reference);
  DiagonalPreconditioner jacobi(system.op());
  const Vector b = system.part_of(right_hand_side(reference.size()));
  for (const double tolerance : {1e-1, 1e-5, 1e-10}) {
    CAPTURE(tolerance);
    ConjugateGradient fused(system.op(), options(tolerance, Mode::task, &jacobi));
    const SolveReport expected = fused.solve(b);
    Counting counting(jacobi);
    ConjugateGradient solver(system.op(), options(tolerance, Mode::task, &counting));
    const SolveReport report = solver.solve(b);
    CHECK(report.status == SolveStatus::converged);
    CHECK(report.iterations == expected.iterations);
    CHECK(report.recurrence_residual == Approx(expected.recurrence_residual));
    CHECK(counting.count() == report.iterations);
    CHECK(is_same(solver.solution(), fused.solution()));
  }
}

TEST_CASE("a zero on the diagonal is refused by Jacobi on every rank, with its row") {
  const auto world = Communicator::collective_world();
  auto reference = tests::reference_matrix(Problem::parse("poisson2d:9x8"));
  reference[50][50] = 0;
  reference[60].erase(60);
  System system(world, tests::session().thread_level(), reference);
  CHECK_THROWS_AS(DiagonalPreconditioner(system.op()), comm_thread::InputError);
  CHECK_THROWS_WITH(DiagonalPreconditioner(system.op()),
                    Catch::Contains("row 51 has a zero on the diagonal"));
  CHECK_NOTHROW(ConjugateGradient(system.op(), options(1e-8)));
}

}  // namespace
}  // namespace weft::solver
