#pragma once

#include <cstdint>

#include "comm_thread/job/job.h"
#include "perfmodel/mode_model.h"
#include "spmv/modes/linear_operator.h"

namespace weft::library {

/// Performance of messages to the rank half of all ranks further; zeros on one rank.
struct Link {
  double latency_seconds = 0;  // of the smallest messages
  /// Time of a message of the size of the halo's besides its bytes: several latencies if the
  /// library first asks whether the receiver is ready.
  double start_up_seconds = 0;
  double bytes_per_second = 0;  // in each direction while both are busy
};

/// Costs that differ between the communication modes.
struct MeasuredModeCosts {
  Link link;
  perfmodel::ModeCosts costs;  // medians of the slowest rank, with `halo` by the model
  double halo_measured_seconds = 0;  // one exchange, nothing else being done
  std::int64_t messages = 0;  // that the busiest rank receives in an exchange
  std::int64_t bytes = 0;  // that it receives or sends, whichever is more
};

/// Measures products without communication and the link, and models the exchange. Collective.
/// Thread: the main thread.
MeasuredModeCosts collective_measure_mode_costs(comm_thread::Job& job, spmv::LinearOperator& op);

}  // namespace weft::library
