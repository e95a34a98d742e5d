#include "tests/comm_thread/termination/termination_model.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <utility>

namespace weft::comm_thread {
namespace {

constexpr std::array<int, 2> both_sides{0, 1};

/// Value towards which a rank with these neighbours moves.
int target(const std::array<int, 2>& halo) { return (halo[0] + halo[1]) / 2; }

/// A chain, so that three ranks have an inner one: 0 ─ 1 ─ 2.
BinaryTree chain(std::size_t rank, std::size_t rank_count) {
  BinaryTree tree(0, 1);
  tree.parent = static_cast<int>(rank) - 1;
  tree.child_count = rank + 1 < rank_count;
  tree.children = {static_cast<int>(rank) + 1, 0};
  return tree;
}

}  // namespace

TerminationModel::TerminationModel(const ModelScenario& scenario)
    : scenario_(&scenario), rank_count_(scenario.initial.size()) {
  for (std::size_t rank = 0; rank < rank_count_; ++rank) {
    Rank& state = ranks_.emplace_back(scenario.threshold);
    state.value = scenario.initial[rank];
    state.recorded_halo = {nothing, nothing};
    state.reduction =
        ReductionProtocol({.threshold = static_cast<double>(scenario.threshold),
                           .operation = scenario.operation,
                           .rank_count = static_cast<int>(rank_count_),
                           .confirms_by_snapshot = scenario.detector == ModelDetector::snapshot});
    state.flags = FlagTree(chain(rank, rank_count_));
  }
}

SweepOrder TerminationModel::order(std::size_t rank) const {
  return uses_flags() ? ranks_[rank].flags.order() : ranks_[rank].reduction.order();
}

std::array<int, TerminationModel::most_ranks> TerminationModel::values() const {
  std::array<int, most_ranks> all{};
  for (std::size_t rank = 0; rank < rank_count_; ++rank) all[rank] = ranks_[rank].value;
  return all;
}

int TerminationModel::true_residual(const std::array<int, most_ranks>& values) const {
  int residual = 0;
  for (std::size_t rank = 0; rank < rank_count_; ++rank) {
    const std::array<int, 2> halo{rank > 0 ? values[rank - 1] : 0,
                                  rank + 1 < rank_count_ ? values[rank + 1] : 0};
    const int part = std::abs(values[rank] - target(halo));
    residual =
        scenario_->operation == ReduceOperation::sum ? residual + part : std::max(residual, part);
  }
  return residual;
}

bool TerminationModel::has_snapshot_arrived(std::size_t rank) const {
  for (const int side : both_sides) {
    const auto s = static_cast<Side>(side);
    if (has_neighbour(rank, s) && ranks_[rank].recorded_halo[s] == nothing) return false;
  }
  return true;
}

bool TerminationModel::try_step(std::size_t kind, std::size_t rank) {
  switch (kind) {
    case 0:
      return sweep(rank);
    case 1:
      return deliver(rank, left);
    case 2:
      return deliver(rank, right);
    case 3:
      return deliver_snapshot(rank, left);
    case 4:
      return deliver_snapshot(rank, right);
    case 5:
      return verify_together(rank);
    case 6:
      return leave_verification(rank);
    case 7:
      return give_up(rank);
    case 8:
      return contribute(rank);
    case 9:
      return take_result(rank);
    case 10:
      return look_at_signal(rank);
    case 11:
      return talk_to_parent(rank);
    default:
      return talk_to_children(rank);
  }
}

bool TerminationModel::sweep(std::size_t rank) {
  Rank& own = ranks_[rank];
  if (own.is_verifying || own.has_ended) return false;
  const int goal = target(own.halo);
  const int residual = std::abs(own.value - goal);
  own.value += (goal > own.value) - (goal < own.value);
  own.has_swept = true;
  own.has_looked = false;
  own.was_converged = own.was_converged || residual <= scenario_->threshold;
  for (const int side : both_sides) {
    const auto s = static_cast<Side>(side);
    if (has_neighbour(rank, s))
      ranks_[neighbour(rank, s)].message[s == left ? right : left] = own.value;
  }
  SweepOrder given = order(rank);
  if (scenario_->fault == ModelFault::skips_late_snapshot && given.verdict != Verdict::none)
    given.snapshot = own.sweeper.recorded_snapshot();
  act(rank, own.sweeper.after_sweep({.contribution = static_cast<double>(residual),
                                     .is_converged = residual <= scenario_->threshold,
                                     .gives_up = own.gives_up},
                                    given, has_snapshot_arrived(rank)));
  return true;
}

void TerminationModel::act(std::size_t rank, SweepAction action) {
  if (action == SweepAction::record_snapshot) record_snapshot(rank);
  if (action == SweepAction::evaluate_snapshot) evaluate_snapshot(rank);
  if (action != SweepAction::verify) return;
  ranks_[rank].is_verifying = true;
  if (scenario_->fault == ModelFault::trusts_detection) end(rank);
}

void TerminationModel::record_snapshot(std::size_t rank) {
  Rank& own = ranks_[rank];
  own.recorded_value = own.value;
  own.sweeper.snapshot_recorded();
  for (const int side : both_sides) {
    const auto s = static_cast<Side>(side);
    if (!has_neighbour(rank, s)) continue;
    int& message = ranks_[neighbour(rank, s)].snapshot_message[s == left ? right : left];
    if (message != nothing) violate("two snapshots of one rank are under way at once");
    message = own.value;
  }
}

void TerminationModel::evaluate_snapshot(std::size_t rank) {
  Rank& own = ranks_[rank];
  std::array<int, 2> halo = own.halo;
  if (scenario_->fault != ModelFault::live_halo_in_snapshot)
    halo = {std::max(own.recorded_halo[left], 0), std::max(own.recorded_halo[right], 0)};
  const int value =
      scenario_->fault == ModelFault::live_value_in_snapshot ? own.value : own.recorded_value;
  own.sweeper.snapshot_evaluated(std::abs(value - target(halo)));
  own.recorded_halo = {nothing, nothing};
}

bool TerminationModel::give_up(std::size_t rank) {
  Rank& own = ranks_[rank];
  if (static_cast<int>(rank) != scenario_->giving_up_rank || own.gives_up) return false;
  own.gives_up = true;
  return true;
}

bool TerminationModel::deliver(std::size_t rank, Side side) {
  Rank& own = ranks_[rank];
  if (own.message[side] == nothing || own.has_ended) return false;
  own.halo[side] = std::exchange(own.message[side], nothing);
  return true;
}

bool TerminationModel::deliver_snapshot(std::size_t rank, Side side) {
  Rank& own = ranks_[rank];
  // A receive is posted for it only once this rank has recorded its own part.
  const bool is_open = own.sweeper.recorded_snapshot() > own.sweeper.signal().evaluated_snapshot;
  if (!is_open || own.snapshot_message[side] == nothing) return false;
  own.recorded_halo[side] = std::exchange(own.snapshot_message[side], nothing);
  return true;
}

bool TerminationModel::verify_together(std::size_t rank) {
  if (rank != 0) return false;
  for (std::size_t other = 0; other < rank_count_; ++other) {
    const Rank& state = ranks_[other];
    const bool is_open =
        state.sweeper.recorded_snapshot() > state.sweeper.signal().evaluated_snapshot;
    const bool is_ready = state.is_verifying && state.verified_value == nothing;
    if (!is_ready || (is_open && !has_snapshot_arrived(other))) return false;
  }
  const std::array<int, most_ranks> fresh = values();
  for (std::size_t other = 0; other < rank_count_; ++other) {
    Rank& state = ranks_[other];
    state.verified_value = true_residual(fresh);
    if (has_neighbour(other, left)) state.halo[left] = fresh[other - 1];
    if (has_neighbour(other, right)) state.halo[right] = fresh[other + 1];
  }
  return true;
}

bool TerminationModel::leave_verification(std::size_t rank) {
  Rank& own = ranks_[rank];
  if (own.verified_value == nothing) return false;
  const int value = std::exchange(own.verified_value, nothing);
  if (own.sweeper.verified(value)) {
    end(rank);
  } else {
    own.is_verifying = own.has_swept = own.was_converged = false;
    own.has_looked = false;
  }
  return true;
}

void TerminationModel::end(std::size_t rank) {
  Rank& own = ranks_[rank];
  own.has_ended = true;
  own.is_verifying = own.has_looked = false;
  const bool gave_up = order(rank).verdict == Verdict::gave_up;
  const bool is_converged = true_residual(values()) <= scenario_->threshold;
  if (!gave_up && !is_converged) violate("ended without having converged");
  if (gave_up && !ranks_[static_cast<std::size_t>(std::max(0, scenario_->giving_up_rank))].gives_up)
    violate("gave up though nobody wanted to");
  for (const Rank& other : ranks_)
    if (other.has_ended && (other.sweeper.signal().epoch != own.sweeper.signal().epoch ||
                            other.sweeper.has_converged() != own.sweeper.has_converged()))
      violate("ranks ended differently");
}

bool TerminationModel::contribute(std::size_t rank) {
  Rank& own = ranks_[rank];
  if (uses_flags()) return false;
  SweepSignal signal = own.sweeper.signal();
  if (own.reduction.order().verdict != Verdict::none) {
    if (signal.epoch == own.reduction.order().epoch) return false;
    own.reduction.resume(signal);
    return true;
  }
  if (own.has_contributed || !own.has_taken_result) return false;
  if (scenario_->fault == ModelFault::no_epochs && !own.has_swept) signal.contribution = 0;
  std::array<double, 4> values{};
  own.reduction.fill_contribution(signal, values);
  const std::vector<ReduceOperation> operations = own.reduction.operations();
  for (std::size_t i = 0; i < operations.size(); ++i)
    partial_[i] = combine(operations[i], partial_[i], values[i]);
  own.has_contributed = true;
  const auto has_contributed = [](const Rank& other) { return other.has_contributed; };
  if (!std::all_of(ranks_.begin(), ranks_.end(), has_contributed)) return true;
  for (Rank& other : ranks_) other.has_contributed = other.has_taken_result = false;
  result_ = std::exchange(partial_, {});
  return true;
}

bool TerminationModel::take_result(std::size_t rank) {
  Rank& own = ranks_[rank];
  if (uses_flags() || own.has_taken_result) return false;
  own.has_taken_result = true;
  own.reduction.take_result(result_);
  check_verdict(rank);
  const auto has_taken = [](const Rank& other) { return other.has_taken_result; };
  if (std::all_of(ranks_.begin(), ranks_.end(), has_taken)) result_ = {};
  return true;
}

bool TerminationModel::look_at_signal(std::size_t rank) {
  Rank& own = ranks_[rank];
  if (!uses_flags() || own.has_looked) return false;
  own.has_looked = true;
  SweepSignal signal = own.sweeper.signal();
  const FlagMessage before = own.flags.memory()[0];
  const bool was_raised = before.flag == Verdict::converged && before.epoch == signal.epoch;
  if (scenario_->fault == ModelFault::no_retraction && was_raised) signal.is_converged = true;
  const bool was_decided = order(rank).verdict != Verdict::none;
  own.flags.set_own(signal);
  if (scenario_->fault == ModelFault::no_epochs && rank + 1 < rank_count_)
    own.flags.receive_from_child(0, {signal.epoch, own.flags.memory()[1].flag, false});
  if (!was_decided || order(rank).epoch != before.epoch) check_verdict(rank);
  return true;
}

bool TerminationModel::talk_to_parent(std::size_t rank) {
  Rank& own = ranks_[rank];
  if (!uses_flags() || rank == 0) return false;
  if (own.to_parent) {
    FlagMessage message = *own.to_parent;
    own.to_parent.reset();
    if (scenario_->fault == ModelFault::no_epochs)
      message.epoch = ranks_[rank - 1].flags.memory()[0].epoch;
    const bool was_decided = order(rank - 1).verdict != Verdict::none;
    ranks_[rank - 1].flags.receive_from_child(0, message);
    if (!was_decided) check_verdict(rank - 1);
    return true;
  }
  own.to_parent = own.flags.unsent_to_parent();
  if (own.to_parent) own.flags.sent_to_parent(*own.to_parent);
  return own.to_parent.has_value();
}

bool TerminationModel::talk_to_children(std::size_t rank) {
  if (!uses_flags() || rank + 1 == rank_count_) return false;
  Rank& child = ranks_[rank + 1];
  if (child.from_parent) {
    child.flags.receive_from_parent(*child.from_parent);
    child.from_parent.reset();
    return true;
  }
  child.from_parent = ranks_[rank].flags.unsent_to_children();
  if (child.from_parent) ranks_[rank].flags.sent_to_children(*child.from_parent);
  return child.from_parent.has_value();
}

void TerminationModel::check_verdict(std::size_t rank) {
  const SweepOrder given = order(rank);
  if (given.verdict != Verdict::converged) return;
  std::array<int, most_ranks> recorded{};
  for (std::size_t other = 0; other < rank_count_; ++other) {
    const Rank& state = ranks_[other];
    recorded[other] = state.recorded_value;
    if (state.sweeper.signal().epoch != given.epoch || !state.has_swept)
      violate("fired before all ranks had swept in this epoch");
    if (uses_flags() && !state.was_converged)
      violate("fired before all ranks had converged in this epoch");
    if (scenario_->detector == ModelDetector::snapshot &&
        state.sweeper.recorded_snapshot() != given.snapshot)
      violate("fired before all ranks had recorded the snapshot");
  }
  if (scenario_->detector == ModelDetector::snapshot &&
      true_residual(recorded) > scenario_->threshold)
    violate("the snapshot detector fired falsely");
  if (uses_flags() && rank == 0) check_flags_at_rest();
}

/// Once no message is in flight, the root has the current state.
void TerminationModel::check_flags_at_rest() {
  for (const Rank& state : ranks_)
    if (!state.has_looked || state.to_parent || state.flags.unsent_to_parent()) return;
  for (const Rank& state : ranks_)
    if (!state.sweeper.signal().is_converged) violate("fired on a flag that was taken back");
}

bool TerminationModel::has_ended() const {
  for (const Rank& state : ranks_) {
    if (!state.has_ended || state.has_contributed || state.to_parent || state.from_parent)
      return false;
    for (const int side : both_sides)
      if (state.snapshot_message[static_cast<std::size_t>(side)] != nothing) return false;
    if (uses_flags() && !state.flags.is_drained()) return false;
  }
  return true;
}

}  // namespace weft::comm_thread
