#pragma once

#include <cstdint>

#include "perfmodel/mode_model.h"
#include "spmv/linear_operator.h"
#include "tools/job.h"

namespace weft::tools {

/// How quickly messages travel between ranks.
struct Link {
  double latency_seconds = 0;
  double bytes_per_second = 0;  // in each direction while both are busy
};

/// The link to the rank half of all ranks further; zeros on one rank. Collective. Thread: the main
/// thread.
Link collective_measure_link(Job& job);

/// What the modes of an operator differ by.
struct MeasuredModeCosts {
  perfmodel::ModeCosts costs;  // medians of the slowest rank, with `halo` by the model
  double halo_measured_seconds = 0;  // one exchange, nothing else being done
  std::int64_t messages = 0;  // that the busiest rank receives in an exchange
  std::int64_t bytes = 0;  // that it receives or sends, whichever is more
};

/// Measures products without communication, and models the exchange. Collective. Thread: the main
/// thread.
MeasuredModeCosts collective_measure_mode_costs(const Job& job, spmv::LinearOperator& op,
                                                const Link& link);

}  // namespace weft::tools
