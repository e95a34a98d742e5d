#pragma once

#include "comm_thread/engine/exact_accumulator.h"
#include "perfmodel/core_bounds.h"
#include "perfmodel/core_probes.h"
#include "spmv/sums/binned_sum.h"

namespace weft::library {

/// What an addend costs in the exact sums of spmv/sums/binned_sum.h, beside the product that it is.
inline constexpr perfmodel::Operations close_sum{.additions = spmv::CloseSum::additions,
                                                 .integer_additions = 1};
inline constexpr perfmodel::Operations binned_sum{.additions = spmv::BinnedSum::additions,
                                                  .integer_additions = 2};

/// One register after the other is added to the first bin.
inline perfmodel::AdditionChain chain_of_sum() {
  return {.additions = static_cast<double>(sizeof(double)) /
                       static_cast<double>(perfmodel::probe_vector_bytes())};
}

/// Sums of kernels end in an accumulator, as in the solvers.
template <class Sum>
void finish(Sum& sum) {
  comm_thread::ExactAccumulator total;
  sum.flush(total);
}

}  // namespace weft::library
