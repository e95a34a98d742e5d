// The state of the model in bytes, by which a search knows it again.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "tests/comm_thread/termination/termination_model.h"

namespace weft::comm_thread {
namespace {

constexpr std::array<int, 2> both_sides{0, 1};

}  // namespace

/// A state in bytes. Epochs and snapshots count from the oldest that any rank is still in;
/// everything older than the previous epoch is equal.
struct TerminationModel::StateBytes {
  std::string text;
  std::uint64_t first_epoch = ~std::uint64_t{0};
  std::uint64_t first_snapshot = ~std::uint64_t{0};

  void put(int value) { text.push_back(static_cast<char>(value)); }
  void put_number(double value) { put(static_cast<int>(std::min(value, 100.0))); }
  void put_epoch(std::uint64_t epoch) {
    put(epoch + 2 > first_epoch ? static_cast<int>(epoch + 2 - first_epoch) : 0);
  }
  void put_snapshot(std::uint64_t snapshot) { put(static_cast<int>(snapshot - first_snapshot)); }
  void put_bits(std::initializer_list<bool> bits) {
    int value = 0;
    for (const bool bit : bits) value = 2 * value + (bit ? 1 : 0);
    put(value);
  }
};

std::string TerminationModel::encode() const {
  StateBytes bytes;
  for (const Rank& state : ranks_) {
    const SweepSignal& signal = state.sweeper.signal();
    bytes.first_epoch = std::min(bytes.first_epoch, signal.epoch);
    bytes.first_snapshot = std::min(bytes.first_snapshot, signal.evaluated_snapshot);
  }
  for (const Rank& state : ranks_) {
    encode_sweeping(state, bytes);
    if (uses_flags()) {
      encode_flags(state, bytes);
    } else {
      encode_reduction(state, bytes);
    }
  }
  for (const double value : partial_) bytes.put_number(value);
  for (const double value : result_) bytes.put_number(value);
  return bytes.text;
}

void TerminationModel::encode_sweeping(const Rank& state, StateBytes& bytes) {
  const SweepSignal& signal = state.sweeper.signal();
  bytes.put(state.value);
  bytes.put(state.verified_value);
  for (const int side : both_sides) {
    bytes.put(state.halo[static_cast<std::size_t>(side)]);
    bytes.put(state.message[static_cast<std::size_t>(side)]);
  }
  bytes.put_epoch(signal.epoch);
  bytes.put_number(signal.contribution);
  bytes.put_bits({signal.is_converged, signal.gives_up, state.gives_up, state.is_verifying,
                  state.has_swept, state.was_converged, state.has_ended});
}

void TerminationModel::encode_flags(const Rank& state, StateBytes& bytes) {
  const auto put_message = [&bytes](const FlagMessage& message) {
    bytes.put_epoch(message.epoch);
    bytes.put(static_cast<int>(message.flag) + (message.is_last ? 8 : 0));
  };
  for (const FlagMessage& message : state.flags.memory()) put_message(message);
  put_message(state.to_parent.value_or(FlagMessage{}));
  put_message(state.from_parent.value_or(FlagMessage{}));
  bytes.put_bits({state.to_parent.has_value(), state.from_parent.has_value(), state.has_looked});
}

void TerminationModel::encode_reduction(const Rank& state, StateBytes& bytes) const {
  const SweepOrder& given = state.reduction.order();
  bytes.put_epoch(given.epoch);
  bytes.put(static_cast<int>(given.verdict));
  bytes.put_bits(
      {state.has_contributed, state.has_taken_result, state.reduction.is_snapshot_open()});
  if (scenario_->detector != ModelDetector::snapshot) return;
  bytes.put_snapshot(given.snapshot);
  bytes.put_snapshot(state.sweeper.signal().evaluated_snapshot);
  bytes.put_snapshot(state.sweeper.recorded_snapshot());
  bytes.put_number(state.sweeper.signal().snapshot_contribution);
  bytes.put(state.recorded_value);
  for (const int side : both_sides) {
    bytes.put(state.recorded_halo[static_cast<std::size_t>(side)]);
    bytes.put(state.snapshot_message[static_cast<std::size_t>(side)]);
  }
}

}  // namespace weft::comm_thread
