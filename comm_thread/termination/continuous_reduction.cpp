#include "comm_thread/termination/continuous_reduction.h"

#include <algorithm>
#include <utility>

namespace weft::comm_thread {

ContinuousReduction::ContinuousReduction(const Communicator& communicator, CommThread& comm_thread,
                                         Options options)
    : communicator_(communicator.collective_duplicate()),
      comm_thread_(comm_thread),
      options_(std::move(options)),
      contribution_(options_.operations.size()),
      contributions_(contribution_),
      results_({0, contribution_}),
      result_{0, contribution_} {
  if (options_.engine == Engine::library) {
    library_.emplace(communicator_, options_.operations);
    return;
  }
  tree_.emplace(
      communicator_, options_.operations, 0,
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
         std::chrono::steady_clock::now() < rest_end_;
}

bool ContinuousReduction::progress() {
  if (!is_in_round_) {
    if (is_stopped() || rests()) return false;
    start_round();
    return true;
  }
  if (!is_round_complete()) return false;
  is_in_round_ = false;
  rest_end_ = std::chrono::steady_clock::now() + longest_rest;
  if (stops_) {
    is_running_.store(false, std::memory_order_release);
  } else if (!rests()) {
    start_round();
  }
  return true;
}

}  // namespace weft::comm_thread
