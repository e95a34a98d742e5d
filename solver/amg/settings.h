#pragma once

#include <cstdint>

#include "solver/levels/run_cycle.h"
#include "spmv/modes/mode.h"

namespace weft::solver::amg {

/// How a hierarchy is set up and applied.
struct Settings {
  enum class Precision { in_float, in_double };
  /// automatic: W where it takes at most an eighth more work. With W, a level that is solved
  /// directly corrects once; iterations hardly grow with the number of levels.
  using Form = CycleForm;

  /// A coupling is strong from this share of the strongest of its row on.
  double strength = 0.25;
  /// Of the smoothing polynomial, before and after the coarse correction: 1 to 4.
  int degree = 2;
  /// A level with at most this many rows is solved directly.
  std::int64_t direct_rows = 400;
  /// A level moves to fewer ranks where one would have fewer rows than this on average; one of
  /// nodes, where one would have fewer nonzeros than so many rows of a scalar problem have.
  /// 0: chosen by a model, see collective_rank_count.
  std::int64_t gather_rows = 0;
  /// Of the levels; vectors and products of the method are in double precision in any case.
  Precision precision = Precision::in_float;
  Form form = Form::automatic;
  /// Keeps prolongators, coarse matrices, products and what ranks exchange of them for new values
  /// of the matrix.
  bool keeps_set_up = false;
  spmv::Mode mode = spmv::Mode::task;
};

}  // namespace weft::solver::amg
