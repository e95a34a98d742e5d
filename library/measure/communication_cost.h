#pragma once

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/job/job.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/rows/halo.h"

namespace weft::library {

/// Times of the communication alone: medians, of the slowest rank.
struct CommunicationCost {
  double halo_seconds = 0;  // one exchange of the halo of a vector
  double reduction_seconds = 0;  // one sum of a few numbers over all ranks
};

/// Measures both, a dozen times each; zeros on one rank. Collective. Thread: the main thread.
CommunicationCost collective_measure_communication(const comm_thread::Job& job,
                                                   spmv::LinearOperator& op);

/// Median seconds of one exchange of `halo` alone, of the slowest rank; 0 on one rank. `halo`: null
/// where this rank has none. Collective. Thread: the main thread.
double collective_measure_exchange(const comm_thread::Job& job,
                                   comm_thread::CommThread& comm_thread, spmv::Halo* halo);

/// The part of `count` operations of `alone_seconds` each that did not have to be waited for:
/// 1 - waited / (count · alone), within 0 and 1; 0 where there was nothing to hide.
double hidden_fraction(double waited_seconds, double count, double alone_seconds);

}  // namespace weft::library
