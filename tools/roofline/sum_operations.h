#pragma once

#include "comm_thread/engine/exact_accumulator.h"
#include "perfmodel/core_bounds.h"

namespace weft::tools {

/// What an addend costs in the exact sums of spmv/sums/binned_sum.h, beside the product that it is.
inline constexpr perfmodel::Operations close_sum{.additions = 5, .integer_additions = 1};
inline constexpr perfmodel::Operations binned_sum{.additions = 8, .integer_additions = 2};

/// Eight addends are added at once to the first bin, after the eight before.
inline constexpr perfmodel::AdditionChain chain_of_sum{.additions = 1.0 / 8};

/// Sums of kernels end in an accumulator, as in the solvers.
template <class Sum>
void finish(Sum& sum) {
  comm_thread::ExactAccumulator total;
  sum.flush(total);
}

}  // namespace weft::tools
