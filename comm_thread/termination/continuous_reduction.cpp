#include "comm_thread/termination/continuous_reduction.h"

#include <algorithm>
#include <utility>

namespace weft::comm_thread {

ContinuousReduction::ContinuousReduction(const MessageSpace& space, CommThread& comm_thread,
                                         Options options)
    : space_(space.collective_duplicate_space()),
      comm_thread_(comm_thread),
      options_(std::move(options)),
      contribution_(options_.operations.size()),
      contributions_(contribution_),
      results_({0, contribution_}),
      result_{0, contribution_} {
  if (options_.engine == Engine::library) {
    library_ = space_->prepare_reduction(options_.operations);
    return;
  }
  tree_.emplace(
      *space_, options_.operations, 0,
      AllReduce::Hooks{.take = [this](std::span<double> values) { take_contribution(values); },
                       .publish = [this](std::span<const double> values) { publish(values); }});
}

ContinuousReduction::~ContinuousReduction() {
  try {
    comm_thread_.remove_service(*this);
  } catch (...) {  // thrown by `progress`; the waiting thread has it
  }
}

void ContinuousReduction::contribute(std::span<const double> values) {
  std::ranges::copy(values, contribution_.begin());
  contributions_.write(contribution_);
}

void ContinuousReduction::take_contribution(std::span<double> values) {
  if (options_.take) {
    options_.take(values);
  } else {
    std::ranges::copy(contributions_.read(), values.begin());
  }
}

void ContinuousReduction::publish(std::span<const double> values) {
  ++result_.round;
  std::ranges::copy(values, result_.values.begin());
  results_.write(result_);
  stops_ = options_.stops_after && options_.stops_after(result_);
}

void ContinuousReduction::start_round() {
  if (tree_) {
    tree_round_ = tree_->post(comm_thread_);
  } else {
    take_contribution(library_->values());
    library_->start();
  }
  is_in_round_ = true;
}

bool ContinuousReduction::is_round_complete() {
  if (tree_) {
    if (!tree_round_->test()) return false;
    tree_round_->wait();  // throws the round's error
    return true;
  }
  if (!library_->test()) return false;
  publish(library_->values());
  return true;
}

/// True between two rounds.
bool ContinuousReduction::rests() const {
  return options_.has_changed && !options_.has_changed() &&
         comm_thread_.clock().seconds() < rest_end_;
}

bool ContinuousReduction::progress() {
  if (!is_in_round_) {
    if (is_stopped() || rests()) return false;
    start_round();
    return true;
  }
  if (!is_round_complete()) return false;
  is_in_round_ = false;
  rest_end_ = comm_thread_.clock().seconds() + longest_rest_seconds;
  if (stops_) {
    is_running_.store(false, std::memory_order_release);
  } else if (!rests()) {
    start_round();
  } else {
    comm_thread_.clock().wake_at(rest_end_);
  }
  return true;
}

}  // namespace weft::comm_thread
