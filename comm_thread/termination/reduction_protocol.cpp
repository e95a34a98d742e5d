#include "comm_thread/termination/reduction_protocol.h"

#include <cmath>
#include <limits>

namespace weft::comm_thread {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double without_nan(double value) { return std::isnan(value) ? infinity : value; }

}  // namespace

std::vector<ReduceOperation> ReductionProtocol::operations() const {
  if (!options_.confirms_by_snapshot) return {options_.operation, ReduceOperation::sum};
  return {options_.operation, ReduceOperation::sum, options_.operation, ReduceOperation::sum};
}

void ReductionProtocol::fill_contribution(const SweepSignal& signal,
                                          std::span<double> values) const {
  const bool is_of_epoch = signal.epoch == order_.epoch;
  values[estimate] = is_of_epoch ? without_nan(signal.contribution) : infinity;
  values[give_ups] = signal.gives_up ? 1 : 0;
  if (!options_.confirms_by_snapshot) return;
  const bool is_ready = is_snapshot_open_ && signal.evaluated_snapshot == order_.snapshot;
  values[snapshot] = is_ready ? without_nan(signal.snapshot_contribution) : 0;
  values[snapshots_ready] = is_ready ? 1 : 0;
}

void ReductionProtocol::take_result(std::span<const double> values) {
  const bool seems_converged = values[estimate] <= options_.threshold;
  if (values[give_ups] > 0) {
    order_.verdict = Verdict::gave_up;
  } else if (!options_.confirms_by_snapshot) {
    if (seems_converged) order_.verdict = Verdict::converged;
  } else if (!is_snapshot_open_) {
    is_snapshot_open_ = seems_converged;
    order_.snapshot += seems_converged;
  } else if (values[snapshots_ready] == options_.rank_count) {
    is_snapshot_open_ = false;
    if (values[snapshot] <= options_.threshold) order_.verdict = Verdict::converged;
  }
}

void ReductionProtocol::resume(const SweepSignal& signal) {
  order_.epoch = signal.epoch;
  order_.verdict = Verdict::none;
}

}  // namespace weft::comm_thread
