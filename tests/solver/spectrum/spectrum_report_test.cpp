// Digits of the tables of spectra.
#include "solver/spectrum/spectrum_report.h"

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

using weft::solver::digits_to_tell;
using weft::solver::SpectrumPiece;

TEST_CASE("as many digits as tell neighbours apart, from six on") {
  CHECK(digits_to_tell(std::vector<double>{}) == 6);
  CHECK(digits_to_tell(std::vector{1.0}) == 6);
  CHECK(digits_to_tell(std::vector{0.0, 0.5, 1.0}) == 6);
  CHECK(digits_to_tell(std::vector{1.0, 1.0 + 1e-6, 1.0 + 2e-6}) == 7);
  CHECK(digits_to_tell(std::vector{0.0, 1.0, 1.0 + 1e-9, 2.0}) == 10);
  CHECK(digits_to_tell(std::vector{-1e-12, -1.000001e-12}) == 7);
  // Equal numbers stay equal, and neighbouring doubles need all digits.
  CHECK(digits_to_tell(std::vector{1.0, 1.0}) == 6);
  CHECK(digits_to_tell(std::vector{3.0, std::nextafter(3.0, 4.0)}) == 17);
  CHECK(digits_to_tell(std::vector<SpectrumPiece>{{.begin = 1, .end = 1 + 1e-7},
                                                  {.begin = 1 + 1e-7, .end = 1 + 2e-7}}) == 8);
}
