#pragma once

namespace weft::solver {

/// What forecasts of memory know of a matrix before it is there; rows and nonzeros of all ranks.
struct MatrixSize {
  double rows = 0;
  double nonzeros = 0;
  double halo_per_rank = 0;
  int rank_count = 1;
  bool may_be_sliced = false;  // rows of varying length, as far as is known
  bool has_many_products = true;  // enough for a trial of SELL, which holds CRS and SELL at once
};

}  // namespace weft::solver
