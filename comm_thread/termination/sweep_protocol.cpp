#include "comm_thread/termination/sweep_protocol.h"

#include <limits>

namespace weft::comm_thread {

SweepAction SweepProtocol::after_sweep(const SweepState& state, const SweepOrder& order,
                                       bool snapshot_has_arrived) {
  signal_.contribution = state.contribution;
  signal_.is_converged = state.is_converged;
  signal_.gives_up = state.gives_up;
  if (order.snapshot > recorded_snapshot_) return SweepAction::record_snapshot;
  if (order.epoch == signal_.epoch && order.verdict != Verdict::none) {
    verdict_ = order.verdict;
    return SweepAction::verify;
  }
  const bool is_open = recorded_snapshot_ > signal_.evaluated_snapshot;
  return is_open && snapshot_has_arrived ? SweepAction::evaluate_snapshot : SweepAction::sweep;
}

void SweepProtocol::snapshot_evaluated(double contribution) {
  signal_.evaluated_snapshot = recorded_snapshot_;
  signal_.snapshot_contribution = contribution;
}

bool SweepProtocol::verified(double true_value) {
  has_converged_ = true_value <= threshold_;
  signal_.has_ended = has_converged_ || verdict_ == Verdict::gave_up;
  verdict_ = Verdict::none;
  if (signal_.has_ended) return true;
  ++signal_.epoch;
  signal_.contribution = std::numeric_limits<double>::infinity();
  signal_.is_converged = false;
  return false;
}

}  // namespace weft::comm_thread
