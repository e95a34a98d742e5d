// `converged` is a statement about the true residual, whatever the matrix.
#include <bit>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "solver/report/stop_rule.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::MatrixSystem;
using tests::ReferenceMatrix;
using tests::Vector;

constexpr std::int64_t row_count = 48;

/// What has not converged by then shows the same on several ranks as on one, at a greater cost.
std::int64_t most_iterations(const Communicator& world) { return world.size() == 1 ? 200 : 80; }

double uniform(std::mt19937_64& random) { return std::ldexp(static_cast<double>(random()), -64); }

/// A random sparse symmetric matrix with `diagonal_excess` more on the diagonal than beside it.
ReferenceMatrix random_symmetric(std::mt19937_64& random, double diagonal_excess) {
  ReferenceMatrix a(row_count);
  for (std::int64_t i = 0; i < row_count; ++i)
    for (int k = 0; k < 3; ++k) {
      const auto j = static_cast<std::int64_t>(random() % row_count);
      if (i == j) continue;
      const double value = -uniform(random);
      a[static_cast<std::size_t>(i)][j] = a[static_cast<std::size_t>(j)][i] = value;
    }
  for (std::int64_t i = 0; i < row_count; ++i) {
    double sum = diagonal_excess;
    for (const auto& [j, value] : a[static_cast<std::size_t>(i)])
      if (j != i) sum -= value;
    a[static_cast<std::size_t>(i)][i] = sum;
  }
  return a;
}

/// A·D from both sides, D from 1e-6 to 1e6.
ReferenceMatrix badly_scaled(ReferenceMatrix a, std::mt19937_64& random) {
  Vector scale(a.size());
  for (double& value : scale) value = std::pow(10.0, 12 * uniform(random) - 6);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (auto& [j, value] : a[i]) value *= scale[i] * scale[static_cast<std::size_t>(j)];
  return a;
}

ReferenceMatrix hilbert() {
  ReferenceMatrix a(12);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j)
      a[i][static_cast<std::int64_t>(j)] = 1 / static_cast<double>(i + j + 1);
  return a;
}

std::vector<std::pair<std::string, ReferenceMatrix>> matrices(std::mt19937_64& random) {
  return {{"positive definite", random_symmetric(random, 0.1)},
          {"nearly singular", random_symmetric(random, 1e-13)},
          {"singular", random_symmetric(random, 0)},
          {"indefinite", random_symmetric(random, -2)},
          {"badly scaled", badly_scaled(random_symmetric(random, 0.1), random)},
          {"Hilbert", hilbert()}};
}

/// ‖b − A·x‖/‖b‖ in extended precision.
double true_residual(const ReferenceMatrix& a, const Vector& b, const Vector& x) {
  long double residual = 0;
  long double whole = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    long double r = b[i];
    for (const auto& [j, value] : a[i])
      r -= static_cast<long double>(value) * x[static_cast<std::size_t>(j)];
    residual += r * r;
    whole += static_cast<long double>(b[i]) * b[i];
  }
  return static_cast<double>(std::sqrt(residual / whole));
}

/// Bound of the rounding in the product that checks the residual: ε·(|A|·|x| + |b|)/‖b‖.
double rounding_of_check(const ReferenceMatrix& a, const Vector& b, const Vector& x) {
  double sum = 0;
  double whole = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    double row = std::abs(b[i]);
    for (const auto& [j, value] : a[i]) row += std::abs(value * x[static_cast<std::size_t>(j)]);
    sum += row * row;
    whole += b[i] * b[i];
  }
  return 16 * 2.3e-16 * std::sqrt(sum / whole);
}

/// The whole of x on every rank.
Vector collective_whole(const MatrixSystem& system, std::span<const double> part) {
  std::vector<std::int64_t> bits;
  for (const double value : part) bits.push_back(std::bit_cast<std::int64_t>(value));
  Vector whole;
  for (const auto& own : system.communicator().all_gather(bits))
    for (const std::int64_t word : own) whole.push_back(std::bit_cast<double>(word));
  return whole;
}

std::unique_ptr<Preconditioner> collective_make(const std::string& name, MatrixSystem& system) {
  if (name == "jacobi") return std::make_unique<DiagonalPreconditioner>(system.op());
  if (name == "schwarz")
    return std::make_unique<SchwarzPreconditioner>(
        system.op(), SchwarzPreconditioner::Options{.piece_count = 4, .must_be_definite = true});
  if (name == "lu")
    return std::make_unique<SchwarzPreconditioner>(
        system.op(), SchwarzPreconditioner::Options{.piece_count = 3, .overlap = 0});
  return nullptr;
}

}  // namespace

TEST_CASE("converged means that the true residual is within the tolerance, for any matrix") {
  const auto world = Communicator::collective_world();
  std::mt19937_64 random(20261123);
  const std::vector<double> tolerances =
      world.size() == 1 ? std::vector{1e-2, 1e-8, 1e-13} : std::vector{1e-8};
  int converged = 0;
  int refused = 0;
  for (int round = 0; round < (world.size() == 1 ? 3 : 1); ++round)
    for (const auto& [kind, a] : matrices(random)) {
      MatrixSystem system(world, a);
      Vector b(a.size());
      for (double& value : b) value = uniform(random) - 0.5;
      for (const std::string name : {"none", "jacobi", "schwarz", "lu"}) {
        std::unique_ptr<Preconditioner> preconditioner;
        try {
          preconditioner = collective_make(name, system);
        } catch (const comm_thread::InputError&) {
          ++refused;
          continue;
        }
        for (const KrylovEntry& entry : krylov_methods())
          for (const double tolerance : tolerances) {
            if (entry.needs_grid) continue;
            CAPTURE(kind, name, entry.name, tolerance, round);
            const auto method = entry.collective_make(
                system.op(),
                {.preconditioner = preconditioner.get(),
                 .stop = {.tolerance = tolerance, .max_iterations = most_iterations(world)},
                 .on_iteration = {}});
            const SolveReport report = method->solve(system.part_of(b));
            const Vector x = collective_whole(system, method->solution());
            const double residual = true_residual(a, b, x);
            const double rounding = rounding_of_check(a, b, x);
            if (std::isfinite(residual))
              CHECK(std::abs(report.relative_residual - residual) <= rounding + 1e-12 * residual);
            if (report.status != SolveStatus::converged) {
              CHECK((report.iterations == most_iterations(world) || !report.explanation.empty()));
              continue;
            }
            ++converged;
            CHECK(residual <= StopRule::allowed_drift * tolerance + rounding);
          }
      }
    }
  CHECK(converged > 25);
  CHECK(refused > 0);
}

TEST_CASE("a singular matrix with a right-hand side outside its range never converges") {
  const auto world = Communicator::collective_world();
  ReferenceMatrix a(30);  // Neumann's problem in one dimension
  for (std::int64_t i = 0; i < 30; ++i) {
    for (const std::int64_t j : {i - 1, i + 1})
      if (j >= 0 && j < 30) {
        a[static_cast<std::size_t>(i)][j] = -1;
        a[static_cast<std::size_t>(i)][i] += 1;
      }
  }
  MatrixSystem system(world, a);
  for (const KrylovEntry& entry : krylov_methods()) {
    if (entry.needs_grid) continue;
    CAPTURE(entry.name);
    const auto method = entry.collective_make(
        system.op(), {.stop = {.max_iterations = most_iterations(world)}, .on_iteration = {}});
    const SolveReport report = method->solve(system.part_of(Vector(30, 1.0)));
    CHECK(report.status != SolveStatus::converged);
    CHECK(report.relative_residual > 0.5);
  }
}

}  // namespace weft::solver
