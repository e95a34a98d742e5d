#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/spectrum/chebyshev_moments.h"
#include "solver/spectrum/spectral_density.h"
#include "solver/spectrum/spectral_interval.h"
#include "spmv/modes/mode.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/solver/krylov/test_matrices.h"
#include "tests/support/serial_reference.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using std::numbers::pi;
using tests::MatrixSystem;
using tests::ReferenceMatrix;

/// The 7-point stencil on n×m×k points.
ReferenceMatrix grid_matrix(int n, int m, int k) {
  ReferenceMatrix a(static_cast<std::size_t>(n * m * k));
  for (int i = 0; i < n * m * k; ++i) {
    auto& row = a[static_cast<std::size_t>(i)];
    row[i] = 6;
    if (i % n > 0) row[i - 1] = -1;
    if (i % n < n - 1) row[i + 1] = -1;
    if (i / n % m > 0) row[i - n] = -1;
    if (i / n % m < m - 1) row[i + n] = -1;
    if (i >= n * m) row[i - n * m] = -1;
    if (i + n * m < n * m * k) row[i + n * m] = -1;
  }
  return a;
}

/// Its eigenvalues in ascending order.
std::vector<double> grid_eigenvalues(int n, int m, int k) {
  const auto line = [](int wave, int points) { return 2 - 2 * std::cos(pi * wave / (points + 1)); };
  std::vector<double> values;
  for (int a = 1; a <= n; ++a)
    for (int b = 1; b <= m; ++b)
      for (int c = 1; c <= k; ++c) values.push_back(line(a, n) + line(b, m) + line(c, k));
  std::sort(values.begin(), values.end());
  return values;
}

ReferenceMatrix diagonal_of(const std::vector<double>& diagonal) {
  ReferenceMatrix a(diagonal.size());
  for (std::size_t i = 0; i < diagonal.size(); ++i)
    a[i][static_cast<std::int64_t>(i)] = diagonal[i];
  return a;
}

/// Whether ‖T_m‖ stays below 1 for all eigenvalues.
bool holds(const SpectralInterval& interval, const std::vector<double>& values) {
  return interval.least < *std::min_element(values.begin(), values.end()) &&
         interval.greatest > *std::max_element(values.begin(), values.end());
}

TEST_CASE("moments of an eigenvector are cosines", "[collective]") {
  const auto& world = Communicator::collective_world();
  MatrixSystem system(world, grid_matrix(11, 9, 13));
  const SpectralInterval interval{.least = -0.5, .greatest = 12.5};
  const int count = 41;
  for (const int width : {1, 2, 4, 8, 16}) {
    ChebyshevMoments moments(system.op(), width, spmv::Mode::task);
    const bool is_inside = moments.collective_make(
        interval, count, [&](std::size_t begin, std::int64_t rows, double* x) {
          for (std::int64_t row = 0; row < rows; ++row) {
            const auto i = system.op().global_row(begin + static_cast<std::size_t>(row));
            const double along_x = static_cast<double>(i % 11 + 1);
            const double along_y = static_cast<double>(i / 11 % 9 + 1);
            const std::int64_t layer = i / 99 + 1;
            const auto along_z = static_cast<double>(layer);
            for (int column = 0; column < width; ++column)
              x[row * width + column] = std::sin(pi * (column % 11 + 1) * along_x / 12) *
                                        std::sin(pi * 3 * along_y / 10) *
                                        std::sin(pi * 2 * along_z / 14);
          }
        });
    CHECK(is_inside);
    CHECK(moments.product_count() == std::int64_t{20} * width);
    for (int column = 0; column < width; ++column) {
      const std::vector<double> found = moments.moments(column);
      REQUIRE(found.size() == static_cast<std::size_t>(count));
      const double square = 12 * 10 * 14 / 8.0;
      const double value = 6 - 2 * (std::cos(pi * (column % 11 + 1) / 12) + std::cos(pi * 3 / 10) +
                                    std::cos(pi * 2 / 14));
      const double angle = std::acos((value - interval.center()) / interval.half());
      for (int m = 0; m < count; ++m)
        CHECK(std::abs(found[static_cast<std::size_t>(m)] - square * std::cos(m * angle)) <
              1e-11 * square);
    }
  }
}

TEST_CASE("moments that grow tell that an eigenvalue lies outside", "[collective]") {
  const auto& world = Communicator::collective_world();
  std::vector<double> values(700, 1);
  values[333] = 3;
  MatrixSystem system(world, diagonal_of(values));
  ChebyshevMoments moments(system.op(), 2, spmv::Mode::vector);
  const auto ones = [](std::size_t, std::int64_t rows, double* x) {
    std::fill_n(x, 2 * rows, 1.0);
  };
  CHECK_FALSE(moments.collective_make({.least = 0, .greatest = 2}, 100, ones));
  CHECK(moments.collective_make({.least = 0, .greatest = 3.1}, 100, ones));
}

TEST_CASE("an interval holds the spectrum", "[collective]") {
  const auto& world = Communicator::collective_world();
  std::vector<double> clustered(3000, 5);
  for (std::size_t i = 0; i < clustered.size(); ++i)
    clustered[i] += 1e-3 * static_cast<double>(i) / 3000;
  clustered[17] = -1;
  for (const std::vector<double>& values :
       {clustered, std::vector<double>(400, 7), std::vector<double>(300, 0),
        std::vector<double>(300, 2e-200), std::vector<double>{3}, std::vector<double>{-1, 4e9}}) {
    MatrixSystem system(world, diagonal_of(values));
    CHECK(holds(collective_spectral_interval(system.op(), spmv::Mode::task), values));
    CHECK(holds(collective_widest_interval(system.op()),
                {*std::max_element(values.begin(), values.end()) / 2}));
  }
  const std::vector<double> all = grid_eigenvalues(15, 12, 14);
  MatrixSystem grid(world, grid_matrix(15, 12, 14));
  const SpectralInterval interval = collective_spectral_interval(grid.op(), spmv::Mode::task);
  CHECK(holds(interval, all));
  CHECK(interval.half() < 1.1 * (all.back() - all.front()) / 2);
}

TEST_CASE("a density adds up to the rows, and counts lie within their uncertainty",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  MatrixSystem system(world, grid_matrix(16, 15, 14));
  const std::vector<double> all = grid_eigenvalues(16, 15, 14);
  for (const EnergyRange range : {EnergyRange{0, 2}, EnergyRange{5.9, 6.1}, EnergyRange{-10, 20},
                                  EnergyRange{11.5, 30}, EnergyRange{12.5, 13}}) {
    const SpectrumReport report = collective_spectral_density(
        system.op(), {.moments = 96, .vectors = 16, .points = 1000, .counted = range});
    const auto exact = static_cast<double>(std::count_if(all.begin(), all.end(), [&](double value) {
      return range.begin <= value && value < range.end;
    }));
    REQUIRE(report.count);
    CHECK(std::abs(report.count->value - exact) <= report.count->uncertainty() + 1e-6);
    CHECK(report.count->uncertainty() < 300);
    CHECK(report.moments[0] == 16 * 15 * 14);
    CHECK(report.error.size() == 1000);
    const double sum = std::accumulate(report.density.begin(), report.density.end(), 0.0);
    CHECK(sum * 2 * report.interval.half() / 1000 == Approx(16 * 15 * 14).epsilon(1e-3));
    CHECK_FALSE(report.is_widest);
  }
}

TEST_CASE("errors by the choice of vectors are as large as they say", "[collective]") {
  const auto& world = Communicator::collective_world();
  MatrixSystem system(world, grid_matrix(16, 15, 14));
  const std::vector<double> all = grid_eigenvalues(16, 15, 14);
  const int moments = 32;
  double squares = 0;
  double expected = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const SpectrumReport report = collective_spectral_density(
        system.op(), {.moments = moments, .vectors = 10, .seed = seed, .points = 20});
    std::vector<double> exact(moments, 0.0);
    for (const double value : all) {
      const double angle = std::acos((value - report.interval.center()) / report.interval.half());
      for (int m = 0; m < moments; ++m) exact[static_cast<std::size_t>(m)] += std::cos(m * angle);
    }
    const auto factors = kernel_factors(MomentKernel::jackson, 0, moments);
    for (std::size_t m = 0; m < exact.size(); ++m) exact[m] *= factors[m];
    const std::vector<std::vector<double>> one{exact};
    const auto density = densities(one, report.interval, report.energies);
    for (std::size_t i = 2; i < 18; ++i) {
      squares += std::pow(report.density[i] - density[i][0], 2);
      expected += std::pow(report.error[i], 2);
    }
  }
  CHECK(squares < 2 * expected);
  CHECK(squares > expected / 2);
}

TEST_CASE("a spectral function has the shares of its vectors in each eigenvector", "[collective]") {
  const auto& world = Communicator::collective_world();
  MatrixSystem system(world, grid_matrix(7, 6, 5));
  const auto entry = [](std::int64_t row, int x, int y, int z) {  // of an eigenvector of norm 1
    const std::int64_t i = row % 7;
    const std::int64_t j = row / 7 % 6;
    const std::int64_t k = row / 42;
    return std::sqrt(8.0 / (8 * 7 * 6)) * std::sin(pi * x * static_cast<double>(i + 1) / 8) *
           std::sin(pi * y * static_cast<double>(j + 1) / 7) *
           std::sin(pi * z * static_cast<double>(k + 1) / 6);
  };
  const auto value = [](int x, int y, int z) {
    return 6 - 2 * (std::cos(pi * x / 8) + std::cos(pi * y / 7) + std::cos(pi * z / 6));
  };
  std::vector<double> v;
  std::vector<double> w;
  for (std::int64_t row = 0; row < 210; ++row) {
    v.push_back(3 * entry(row, 1, 1, 1) - 2 * entry(row, 3, 2, 1));
    w.push_back(1e9 * (entry(row, 3, 2, 1) + 5 * entry(row, 7, 6, 5)));
  }
  const double middle = value(3, 2, 1);
  const DensityOptions options{.moments = 400, .counted = EnergyRange{middle - 0.7, middle + 0.7}};
  const auto own_v = system.part_of(v);
  const auto own_w = system.part_of(w);
  const SpectrumReport alone =
      collective_spectral_function(system.op(), options, own_v, std::nullopt);
  CHECK(alone.error.empty());
  CHECK(alone.moments[0] == Approx(13).epsilon(1e-12));
  CHECK(alone.count->value == Approx(4).epsilon(1e-3));
  CHECK(alone.count->random_error == 0);
  const SpectrumReport both = collective_spectral_function(system.op(), options, own_v, own_w);
  const SpectrumReport turned = collective_spectral_function(system.op(), options, own_w, own_v);
  const double half = both.interval.half();
  const double center = both.interval.center();
  for (std::size_t m = 0; m < 400; ++m) {
    const double exact =
        -2e9 * std::cos(static_cast<double>(m) * std::acos((middle - center) / half));
    CHECK(std::abs(both.moments[m] - exact) < 1e-3);
    CHECK(std::abs(turned.moments[m] - exact) < 1e-3);
  }
  CHECK(both.count->value == Approx(-2e9).epsilon(1e-3));
}

TEST_CASE("the bits of a density do not depend on ranks, threads, modes and widths",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  const Communicator alone = Communicator::self();
  for (const ReferenceMatrix& matrix :
       {tests::shifted_laplacian(36, 2.5), grid_matrix(13, 17, 11)}) {
    MatrixSystem system(world, matrix);
    MatrixSystem one(alone, matrix, 1);
    const DensityOptions reference{.moments = 40,
                                   .vectors = 11,
                                   .width = 1,
                                   .counted = EnergyRange{3, 4},
                                   .mode = spmv::Mode::vector};
    const SpectrumReport expected = collective_spectral_density(one.op(), reference);
    for (const spmv::Mode mode : {spmv::Mode::vector, spmv::Mode::overlap, spmv::Mode::task})
      for (const int width : {1, 2, 4, 8, 16}) {
        DensityOptions options = reference;
        options.width = width;
        options.mode = mode;
        const SpectrumReport report = collective_spectral_density(system.op(), options);
        CHECK(report.moments == expected.moments);
        CHECK(report.density == expected.density);
        CHECK(report.error == expected.error);
        CHECK(report.count->value == expected.count->value);
        CHECK(report.interval.greatest == expected.interval.greatest);
      }
  }
}

TEST_CASE("tiny matrices, one vector and equal eigenvalues have densities", "[collective]") {
  const auto& world = Communicator::collective_world();
  MatrixSystem equal(world, diagonal_of(std::vector<double>(50, 2)));
  const SpectrumReport report = collective_spectral_density(
      equal.op(), {.moments = 20, .vectors = 1, .counted = EnergyRange{1.9, 2.1}});
  CHECK(report.error.empty());
  CHECK(report.count->value == Approx(50).epsilon(1e-9));
  CHECK(report.count->random_error == Approx(10).epsilon(1e-6));
  MatrixSystem one(world, diagonal_of({-3}));
  CHECK(collective_spectral_density(one.op(), {.moments = 2, .vectors = 9}).moments[0] == 1);
  MatrixSystem nothing(world, diagonal_of(std::vector<double>(20, 0)));
  CHECK(collective_spectral_density(nothing.op(), {.moments = 16, .vectors = 2}).density.size() ==
        32);
}

TEST_CASE("a matrix that is not symmetric, of which products grow, is refused", "[collective]") {
  const auto& world = Communicator::collective_world();
  ReferenceMatrix turn(2);
  turn[0][1] = 1;
  turn[1][0] = -1;
  MatrixSystem system(world, turn);
  CHECK_THROWS_AS(collective_spectral_density(system.op(), {.moments = 64, .vectors = 2}),
                  comm_thread::InputError);
}

TEST_CASE("pieces of the interval have all eigenvalues, however few energies are shown",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  MatrixSystem system(world, tests::reference_matrix(spmv::Problem::parse("poisson2d:20")));
  for (const int points : {1, 3, 100}) {
    const SpectrumReport report =
        collective_spectral_density(system.op(), {.moments = 16, .points = points});
    double content = 0;
    for (const SpectrumPiece& piece : pieces_of(report, static_cast<std::size_t>(points)))
      content += piece.content;
    CHECK(content == Approx(400).epsilon(1e-12));
  }
}

}  // namespace
}  // namespace weft::solver
