#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "solver/eigen/certificate.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/filtered_lanczos.h"
#include "solver/eigen/lobpcg.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "tests/solver/eigen/square_elements.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::MatrixSystem;
using tests::ReferenceMatrix;

EigenReport collective_certified(MatrixSystem& system, const EigenOptions& options) {
  FilteredLanczos lanczos(system.op(), options);
  EigenReport report = lanczos.collective_solve();
  collective_certify(system.op(), nullptr, options.end, options.certificate, report);
  return report;
}

/// Each value is within its bound of that of the same number where the list is said to be complete.
/// `exact`: ascending.
void check_bounds(const EigenReport& report, SpectrumEnd end, const std::vector<double>& exact) {
  for (std::size_t i = 0; i < report.pairs.size(); ++i) {
    const EigenPair& pair = report.pairs[i];
    double distance = HUGE_VAL;
    for (const double value : exact) distance = std::min(distance, std::abs(value - pair.value));
    if (report.completeness.is_shown)
      distance =
          std::abs(pair.value - exact[end == SpectrumEnd::smallest ? i : exact.size() - 1 - i]);
    CHECK(distance <= pair.error_bound);
    if (report.completeness.is_shown) CHECK(pair.error_bound <= 1e-4 * report.norm);
  }
}

/// The 5-point stencil on a square of points.
ReferenceMatrix square_laplacian(int points) {
  ReferenceMatrix a(static_cast<std::size_t>(points) * static_cast<std::size_t>(points));
  for (int i = 0; i < points * points; ++i) {
    auto& row = a[static_cast<std::size_t>(i)];
    row[i] = 4;
    if (i % points > 0) row[i - 1] = -1;
    if (i % points < points - 1) row[i + 1] = -1;
    if (i >= points) row[i - points] = -1;
    if (i + points < points * points) row[i + points] = -1;
  }
  return a;
}

std::vector<double> eigenvalues_of_square_laplacian(int points) {
  std::vector<double> values;
  for (int i = 1; i <= points; ++i)
    for (int k = 1; k <= points; ++k)
      values.push_back(4 - 2 * std::cos(std::numbers::pi * i / (points + 1)) -
                       2 * std::cos(std::numbers::pi * k / (points + 1)));
  std::sort(values.begin(), values.end());
  return values;
}

TEST_CASE("values of a grid are shown to be complete, also where the last is one of two copies",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  const std::vector<double> exact = eigenvalues_of_square_laplacian(21);
  MatrixSystem system(world, square_laplacian(21));
  for (const SpectrumEnd end : {SpectrumEnd::smallest, SpectrumEnd::largest})
    for (const int count : {1, 2, 3, 6}) {
      const EigenReport report = collective_certified(system, {.count = count, .end = end});
      CHECK(report.completeness.is_shown);
      CHECK(report.completeness.statement == "complete");
      CHECK(report.completeness.missing == 0);
      CHECK(report.orthogonality < 1e-12);
      check_bounds(report, end, exact);
    }
}

TEST_CASE("a value that is left out is missed, and nothing is said without a count",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  MatrixSystem system(world, square_laplacian(21));
  FilteredLanczos lanczos(system.op(), {.count = 6});
  EigenReport report = lanczos.collective_solve();
  report.pairs.erase(report.pairs.begin() + 2);
  EigenReport uncounted = report;
  collective_certify(system.op(), nullptr, SpectrumEnd::smallest, Certificate::automatic, report);
  CHECK_FALSE(report.completeness.is_shown);
  CHECK(report.completeness.statement == "not shown to be complete");
  CHECK(report.completeness.missing == 1);
  CHECK(report.status == SolveStatus::not_converged);
  collective_certify(system.op(), nullptr, SpectrumEnd::smallest, Certificate::none, uncounted);
  CHECK_FALSE(uncounted.completeness.is_shown);
  CHECK(uncounted.completeness.missing == 0);
  CHECK(uncounted.status == SolveStatus::converged);
}

/// D in coordinates that random rotations of two of them have mixed: its eigenvalues are D's.
ReferenceMatrix rotated(const std::vector<double>& diagonal, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  const std::size_t size = diagonal.size();
  std::vector<std::vector<double>> a(size, std::vector<double>(size, 0.0));
  for (std::size_t i = 0; i < size; ++i) a[i][i] = diagonal[i];
  for (std::size_t turn = 0; turn < size; ++turn) {
    const std::size_t p = bits() % size;
    const std::size_t q = (p + 1 + bits() % std::max<std::size_t>(1, size - 1)) % size;
    const double angle = static_cast<double>(bits() >> 11) * 0x1p-53 * 6;
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    for (std::size_t k = 0; k < size; ++k) {
      const double from_p = a[p][k];
      a[p][k] = c * from_p - s * a[q][k];
      a[q][k] = s * from_p + c * a[q][k];
    }
    for (std::size_t k = 0; k < size; ++k) {
      const double from_p = a[k][p];
      a[k][p] = c * from_p - s * a[k][q];
      a[k][q] = s * from_p + c * a[k][q];
    }
  }
  ReferenceMatrix matrix(size);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t k = 0; k < size; ++k)
      if (const double value = (a[i][k] + a[k][i]) / 2; value != 0)
        matrix[i][static_cast<std::int64_t>(k)] = value;
  return matrix;
}

/// Spectra of six kinds: spread, clustered, degenerate, of low rank, with more copies than a block
/// has vectors and two values that nearly agree, graded; ascending.
std::vector<double> spectrum_of_kind(int kind, std::size_t size, std::mt19937_64& bits) {
  std::vector<double> values;
  for (std::size_t i = 0; i < size; ++i) {
    const double uniform = static_cast<double>(bits() >> 11) * 0x1p-53;
    const auto number = static_cast<double>(i);
    switch (kind) {
      case 0:
        values.push_back(uniform - 0.5);
        break;
      case 1:
        values.push_back(i < 6 ? -3 + 1e-6 * number : uniform);
        break;
      case 2:
        values.push_back(i < 3 ? -2 : i < 6 ? -1 : uniform);
        break;
      case 3:
        values.push_back(i < 5 ? -1 - number : 0);
        break;
      case 4:
        values.push_back(i < 7 ? 1 : i < 9 ? 2 + 1e-9 * number : 3 + uniform);
        break;
      default:
        values.push_back(std::pow(2.0, -number / 8));
    }
  }
  std::sort(values.begin(), values.end());
  return values;
}

TEST_CASE("values of random matrices are within their bounds, and none is missed where complete",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  std::mt19937_64 bits(20);
  constexpr std::array<std::size_t, 4> sizes{40, 90, 60, 264};
  constexpr std::array scales{1.0, 0x1p-500, 0x1p500, 0x1p-900, 0x1p900};
  int shown = 0;
  for (std::size_t number = 0; number < 60; ++number) {
    const int kind = static_cast<int>(number % 6);
    const std::vector<double> exact = spectrum_of_kind(kind, sizes[number / 6 % 4], bits);
    const double scale = scales[number / 6 % 5];
    ReferenceMatrix matrix = rotated(exact, bits());
    std::vector<double> scaled = exact;
    for (auto& row : matrix)
      for (auto& entry : row) entry.second *= scale;
    for (double& value : scaled) value *= scale;
    MatrixSystem system(world, matrix);
    const SpectrumEnd end = number / 12 % 2 == 0 ? SpectrumEnd::smallest : SpectrumEnd::largest;
    const EigenReport report = collective_certified(
        system, {.count = 5, .end = end, .tolerance = 1e-9, .max_restarts = 12});
    INFO(number << " " << name(end) << " " << report.completeness.why);
    // The smallest of 2⁻⁰, 2⁻⅛, 2⁻¼, … lie too close together to be found so soon.
    CHECK((report.status == SolveStatus::converged || kind == 5));
    check_bounds(report, end, scaled);
    shown += report.completeness.is_shown ? 1 : 0;
  }
  CHECK(shown >= 50);
}

TEST_CASE("values with a mass matrix are shown to be complete, with bounds", "[collective]") {
  using namespace tests::square_elements;
  const auto& world = Communicator::collective_world();
  const std::vector<double> exact = exact_values();
  MatrixSystem a(world, stiffness_of_square());
  MatrixSystem b(world, mass_of_square());
  DiagonalPreconditioner diagonal(a.op());
  for (const SpectrumEnd end : {SpectrumEnd::smallest, SpectrumEnd::largest})
    for (const int count : {3, 5, 6}) {
      Lobpcg lobpcg(a.op(), &b.op(), &diagonal, {.count = count, .end = end});
      EigenReport report = lobpcg.collective_solve();
      EigenReport gapped = report;
      collective_certify(a.op(), &b.op(), end, Certificate::automatic, report);
      INFO(count << " " << name(end) << " " << report.completeness.why);
      CHECK(report.completeness.is_shown);
      check_bounds(report, end, exact);
      gapped.pairs.erase(gapped.pairs.begin());
      collective_certify(a.op(), &b.op(), end, Certificate::automatic, gapped);
      CHECK_FALSE(gapped.completeness.is_shown);
      CHECK(gapped.completeness.missing == 1);
    }
}

/// D in the coordinates of a random orthogonal matrix Q, and B = diag(b): the eigenvalues of
/// A = B^½·Q·D·Qᵀ·B^½ and B are D's.
TEST_CASE("values of random pairs of matrices are within their bounds", "[collective]") {
  const auto& world = Communicator::collective_world();
  std::mt19937_64 bits(5);
  for (int number = 0; number < 12; ++number) {
    const std::vector<double> exact = spectrum_of_kind(number % 6, number < 9 ? 40 : 264, bits);
    ReferenceMatrix matrix = rotated(exact, bits());
    ReferenceMatrix mass(matrix.size());
    const auto root = [](std::size_t i) { return 0.75 + 0.25 * static_cast<double>(i % 6); };
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      mass[i][static_cast<std::int64_t>(i)] = root(i) * root(i);
      for (auto& [column, value] : matrix[i])
        value *= root(i) * root(static_cast<std::size_t>(column));
    }
    MatrixSystem a(world, matrix);
    MatrixSystem b(world, mass);
    Lobpcg lobpcg(a.op(), &b.op(), nullptr, {.count = 4, .tolerance = 1e-10});
    EigenReport report = lobpcg.collective_solve();
    collective_certify(a.op(), &b.op(), SpectrumEnd::smallest, Certificate::automatic, report);
    INFO(number << " " << report.completeness.why);
    check_bounds(report, SpectrumEnd::smallest, exact);
    if (report.status == SolveStatus::converged) CHECK(report.completeness.is_shown);
  }
}

TEST_CASE("certificates have the same bits on any number of ranks", "[collective]") {
  const auto& world = Communicator::collective_world();
  const Communicator alone = Communicator::self();
  MatrixSystem system(world, square_laplacian(25));
  MatrixSystem one(alone, square_laplacian(25), 1);
  const EigenReport report = collective_certified(system, {.count = 5});
  const EigenReport expected = collective_certified(one, {.count = 5});
  CHECK(report.completeness.why == expected.completeness.why);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(report.pairs[i].error_bound == expected.pairs[i].error_bound);
}

}  // namespace
}  // namespace weft::solver
