#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.hpp"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::tests {
namespace {

Job density_job() { return Job(MPI_COMM_WORLD, {.threads = thread_count()}); }

TEST_CASE("a density of eigenvalues adds up to the rows and counts those in an interval") {
  const Job job = density_job();
  const Matrix a = Matrix::generate(job, "poisson2d:30");
  const SpectralDensity found = spectral_density(
      a, {{"moments", "100"}, {"vectors", "12"}, {"interval", "0:2"}, {"points", "500"}});
  CHECK(found.energies.size() == 500);
  CHECK(found.errors.size() == 500);
  CHECK(found.moments[0] == 900);
  CHECK(found.least < 0.03);
  CHECK(found.greatest > 7.97);
  const double sum = std::accumulate(found.density.begin(), found.density.end(), 0.0);
  CHECK(sum * (found.greatest - found.least) / 500 == Approx(900).epsilon(1e-2));
  int exact = 0;
  for (int i = 1; i <= 30; ++i)
    for (int k = 1; k <= 30; ++k)
      exact +=
          std::cos(std::numbers::pi * i / 31) + std::cos(std::numbers::pi * k / 31) > 1 ? 1 : 0;
  REQUIRE(found.count);
  CHECK(std::abs(*found.count - exact) <= found.count_uncertainty);
}

TEST_CASE("a spectral function of two vectors integrates to their product, in any order of rows") {
  const Job job = density_job();
  for (const char* const order : {"given", "rcm"}) {
    const Matrix a = Matrix::generate(job, "irregular:600", {{"order", order}});
    std::vector<double> v;
    std::vector<double> w;
    for (std::int64_t row = 0; row < a.local_row_count(); ++row) {
      const auto number = static_cast<double>(a.global_row(row));
      v.push_back(number == 17 ? 2 : 0);
      w.push_back(number);
    }
    CHECK(spectral_density(a, {{"moments", "20"}}, v, w).moments[0] == Approx(34).epsilon(1e-9));
    CHECK(spectral_density(a, {{"moments", "20"}}, v).moments[0] == 4);
  }
}

TEST_CASE("a density refuses wrong options, lengths and matrices") {
  const Job job = density_job();
  const Matrix a = Matrix::generate(job, "poisson2d:10");
  CHECK_THROWS_AS(spectral_density(a, {{"momenta", "20"}}), Error);
  CHECK_THROWS_AS(spectral_density(a, {{"interval", "3:2"}}), Error);
  if (job.size() > 1)
    CHECK_THROWS_AS(spectral_density(a, {{"moments", job.rank() == 0 ? "20" : "30"}}), Error);
  std::vector<double> longer(static_cast<std::size_t>(a.local_row_count()) + 1, 1.0);
  CHECK_THROWS_AS(spectral_density(a, {}, longer), Error);
  CHECK_THROWS_AS(spectral_density(Matrix::generate(job, "convection3d:5,9,0,0")), Error);
  CHECK_THROWS_AS(spectral_density(Matrix::generate(job, "poisson3d:5", {{"operator", "stencil"}})),
                  Error);
}

}  // namespace
}  // namespace weft::tests
