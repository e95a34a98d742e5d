#pragma once

#include <cstdint>

#include "spmv/modes/mode.h"

namespace weft::solver::amg {

/// How a hierarchy is set up and applied.
struct Settings {
  enum class Precision { single, double_ };

  /// A coupling is strong from this share of the strongest of its row on.
  double strength = 0.25;
  /// Of the smoothing polynomial, before and after the coarse correction: 1 to 4.
  int degree = 2;
  /// A level with at most this many rows is solved directly.
  std::int64_t direct_rows = 400;
  /// A level moves to fewer ranks where one would have fewer rows than this on average.
  std::int64_t gather_rows = 1000;
  /// Of the levels; vectors and products of the method are in double precision in any case.
  Precision precision = Precision::single;
  spmv::Mode mode = spmv::Mode::task;
};

}  // namespace weft::solver::amg
