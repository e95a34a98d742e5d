#include "spmv/sums/fitted_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/exact_accumulator.h"
#include "spmv/sums/binned_sum.h"

namespace weft::spmv {
namespace {

constexpr int digits = CloseSum::digits;

double close_sum(const std::vector<double>& values, double bound) {
  comm_thread::ExactAccumulator total;
  CloseSum sum(bound);
  for (const double value : values) sum.add(value);
  sum.flush(total);
  return total.rounded();
}

TEST_CASE("sums fit that are at most 2^12 of the bound and keep 61 digits") {
  CHECK(CloseSum::digits == 76);
  CHECK(BinnedSum::digits == 104);
  FittedBound bound;
  CHECK(bound.next(3, digits) == 3);
  for (const double sum : {3.0, -3.0, 3 * 0x1p12, 3 * 0x1p-15, -3 * 0x1p-15})
    CHECK(bound.fits(sum));
  for (const double sum : {3.1 * 0x1p12, -3.1 * 0x1p12, 2.9 * 0x1p-15, 0.0}) {
    CHECK(!bound.fits(sum));
    CHECK(bound.is_exceeded(sum) == (std::abs(sum) > 3));
  }
}

TEST_CASE("sums that are not finite, and those of nothing, stay as they are") {
  FittedBound bound;
  bound.next(3, digits);
  CHECK(bound.fits(std::numeric_limits<double>::infinity()));
  CHECK(bound.fits(std::numeric_limits<double>::quiet_NaN()));
  bound.next(0, digits);
  CHECK(bound.fits(0));
  CHECK(bound.fits(7));
}

TEST_CASE("an estimate that is infinite, or none, is found to be wrong") {
  FittedBound bound;
  CHECK(std::isfinite(bound.next(std::numeric_limits<double>::infinity(), digits)));
  CHECK(!bound.fits(1));
  bound.next(std::numeric_limits<double>::quiet_NaN(), digits);
  CHECK(!bound.fits(1));
}

TEST_CASE("estimates that are too high are corrected from then on, until a sum exceeds them") {
  FittedBound bound;
  bound.next(0x1p60, digits);
  bound.learn(1.5, 0.25);
  CHECK(bound.next(0x1p60, digits) == 1);
  CHECK(bound.next(0x1p50, digits) == 0x1p-10);
  CHECK(bound.fits(0x1p-10));
  CHECK(!bound.fits(8));
  bound.learn(8, 8);
  CHECK(bound.next(0x1p50, digits) == 8);
  bound.learn(0x1p70, 0x1p70);  // a jump, of which later estimates know
  CHECK(bound.next(0x1p50, digits) == 0x1p50);
  bound.reset();
  CHECK(bound.next(5, digits) == 5);
}

TEST_CASE("a sum whose addends cancel is not made again each time") {
  FittedBound bound;
  bound.next(0x1p40, digits);
  CHECK(!bound.fits(1));
  bound.learn(1, 0x1p30);
  CHECK(bound.next(0x1p40, digits) == 0x1p30);
  CHECK(bound.fits(1));
  CHECK(bound.fits(0x1p-15));
  CHECK(!bound.fits(0x1p-17));
  bound.learn(0, 0x1p30);
  CHECK(bound.fits(0));
}

TEST_CASE("nothing is learnt where the estimate is the last sum") {
  FittedBound bound(true);
  bound.next(1, digits);
  bound.learn(0x1p-60, 0x1p-60);
  CHECK(bound.next(0x1p-60, digits) == 0x1p-60);
  CHECK(bound.excess() == 0);
  CHECK(bound.cancelled() == 0);
}

TEST_CASE("squares beyond the bound are found out in any order, however far beyond") {
  for (int jump = 13; jump < 990; ++jump) {
    std::vector<double> squares(100, 1 / 3.0);
    squares[57] = std::ldexp(1.7, jump);
    squares[91] = std::ldexp(1.1, jump / 2);
    FittedBound bound;
    bound.next(1, digits);
    const double forwards = close_sum(squares, bound.bound());
    std::ranges::reverse(squares);
    const double backwards = close_sum(squares, bound.bound());
    CAPTURE(jump);
    CHECK(!bound.fits(forwards));
    CHECK(!bound.fits(backwards));
    const double again = FittedBound::bound_of(squares[42], 100);
    CHECK(close_sum(squares, again) > 0.99 * std::ldexp(1.7, jump));
  }
}

TEST_CASE("the bound for making a sum again leaves room for as many addends as there are") {
  CHECK(FittedBound::bound_of(3, 1000) == 3);
  CHECK(FittedBound::bound_of(3, 0x1p30) == 3 * 0x1p6);
  CHECK(std::isfinite(FittedBound::bound_of(1e308, 0x1p40)));
}

}  // namespace
}  // namespace weft::spmv
