#include "spmv/problems/diffusion_generator.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "spmv/problems/stencil_generator.h"

namespace weft::spmv {
namespace {

using Entries = std::map<std::pair<GlobalIndex, GlobalIndex>, double>;

template <class Generator>
Entries entries_of(const std::string& word) {
  const Problem problem = Problem::parse(word);
  Entries entries;
  Generator(problem).visit_rows(
      0, problem.row_count(),
      [&](GlobalIndex row, std::span<const GlobalIndex> columns, std::span<const double> values) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
          if (i > 0) CHECK(columns[i - 1] < columns[i]);
          entries[{row, columns[i]}] = values[i];
        }
      });
  return entries;
}

std::vector<double> coefficients_of(const std::string& word) {
  const Problem problem = Problem::parse(word);
  std::vector<double> all;
  std::vector<double> line(static_cast<std::size_t>(problem.grid.x));
  for (GlobalIndex z = 0; z < problem.grid.z; ++z)
    for (GlobalIndex y = 0; y < problem.grid.y; ++y) {
      DiffusionGenerator(problem).fill_coefficients(y, z, line);
      all.insert(all.end(), line.begin(), line.end());
    }
  return all;
}

TEST_CASE("with a constant coefficient diffusion3d is poisson3d, to the last bit") {
  for (const std::string size : {"5x4x3", "1", "6x1x1", "1x2x7"})
    CHECK(entries_of<DiffusionGenerator>("diffusion3d:" + size + ",constant") ==
          entries_of<StencilGenerator>("poisson3d:" + size));
}

TEST_CASE("neighbours are coupled by the harmonic mean, the boundary by a point's own") {
  // A line of four points, of which the middle two are 3.
  const Entries a = entries_of<DiffusionGenerator>("diffusion3d:4x1x1,jumps:3");
  CHECK(a.at({0, 1}) == -1.5);
  CHECK(a.at({1, 2}) == -3);
  CHECK(a.at({2, 3}) == -1.5);
  CHECK(a.at({0, 0}) == 5 * 1 + 1.5);
  CHECK(a.at({1, 1}) == 4 * 3 + 1.5 + 3);
  std::vector<double> missing(4);
  DiffusionGenerator(Problem::parse("diffusion3d:4x1x1,jumps:3"))
      .sum_missing_weights(0, 4, missing);
  CHECK(missing == std::vector<double>{5, 12, 12, 5});
}

TEST_CASE("diffusion3d is symmetric, and a row adds up to its couplings with the boundary") {
  for (const std::string word :
       {"diffusion3d:6x5x4,jumps:0.01", "diffusion3d:6x5x4,checkerboard:2,1000",
        "diffusion3d:6x5x4,lognormal:3,seed=5", "diffusion3d:1x5x4,lognormal:77"}) {
    CAPTURE(word);
    const Problem problem = Problem::parse(word);
    const Entries a = entries_of<DiffusionGenerator>(word);
    const auto rows = static_cast<std::size_t>(problem.row_count());
    std::vector<double> sums(rows);
    std::vector<double> diagonal(rows);
    for (const auto& [place, value] : a) {
      CHECK(a.at({place.second, place.first}) == value);
      CHECK((std::isfinite(value) && value != 0));
      sums[static_cast<std::size_t>(place.first)] += value;
      if (place.first == place.second) diagonal[static_cast<std::size_t>(place.first)] = value;
    }
    std::vector<double> missing(rows);
    // In two parts, the second from within a line.
    DiffusionGenerator(problem).sum_missing_weights(0, 3, std::span(missing).first(3));
    DiffusionGenerator(problem).sum_missing_weights(3, problem.row_count(),
                                                    std::span(missing).subspan(3));
    for (std::size_t row = 0; row < rows; ++row)
      CHECK(sums[row] == Approx(missing[row]).margin(1e-13 * diagonal[row]));
  }
}

TEST_CASE("the coefficients are those of the words") {
  CHECK(coefficients_of("diffusion3d:4x2x1,checkerboard:2,9") ==
        std::vector<double>{1, 1, 9, 9, 1, 1, 9, 9});
  CHECK(coefficients_of("diffusion3d:2x4x1,checkerboard:1,9") ==
        std::vector<double>{1, 9, 9, 1, 1, 9, 9, 1});
  CHECK(coefficients_of("diffusion3d:5x1x1,jumps:7") == std::vector<double>{1, 7, 7, 7, 1});

  const auto normal = coefficients_of("diffusion3d:40,lognormal:2");
  double sum = 0;
  double square = 0;
  for (const double k : normal) {
    sum += std::log(k) / 2;
    square += std::log(k) / 2 * std::log(k) / 2;
  }
  const auto count = static_cast<double>(normal.size());
  CHECK(std::abs(sum / count) < 0.02);  // five standard deviations of the mean
  CHECK(square / count == Approx(1).epsilon(0.03));
  CHECK(coefficients_of("diffusion3d:40,lognormal:2,seed=2") != normal);
}

void write(const std::string& path, const std::string& header, const std::vector<double>& values) {
  std::ofstream file(path, std::ios::binary);
  file << header;
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(double)));
}

TEST_CASE("coefficients are read from raw doubles and from NumPy files") {
  const char* const folder = std::getenv("TEST_TMPDIR");
  const std::string path = std::string(folder ? folder : "/tmp") + "/coefficients.npy";
  const std::string word = "diffusion3d:3x2x1,file=" + path;
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  const std::string dictionary =
      "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 3), }     \n";
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dictionary.size());
  header += '\0';
  for (const std::string& front : {std::string(), header + dictionary}) {
    write(path, front, values);
    CHECK(coefficients_of(word) == values);
    CHECK(Problem::parse(word).name() == word);
  }
  write(path, header + dictionary, values);
  CHECK_THROWS_WITH(Problem::parse("diffusion3d:2x3x1,file=" + path),
                    Catch::Contains("expected '<f8' in C order with the shape (1,3,2)"));
  write(path, "", {1, 2, 3, 4, 5});
  CHECK_THROWS_WITH(Problem::parse(word), Catch::Contains("found 40 bytes"));
  for (const double wrong : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    write(path, "", {1, 2, 3, 4, wrong, 6});
    CHECK_THROWS_WITH(Problem::parse(word), Catch::Contains("at the point 1, 1, 0"));
  }
  write(path, "", {});
  CHECK_THROWS_WITH(Problem::parse(word), Catch::Contains("found nothing to read"));
  CHECK_THROWS_WITH(Problem::parse("diffusion3d:3x2x1,file=" + path + "x"),
                    Catch::Contains("found no file"));
}

}  // namespace
}  // namespace weft::spmv
