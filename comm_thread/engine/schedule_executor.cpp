#include "comm_thread/engine/schedule_executor.h"

#include <algorithm>

#include "perfmodel/thread_trace.h"

namespace weft::comm_thread {

void ScheduleExecutor::start(Schedule& schedule) {
  if (perfmodel::ThreadTrace::of_this_thread()) schedule.begin_ns_ = perfmodel::ThreadTrace::now();
  completed_.resize(std::max(completed_.size(), schedule.operation_count_));
  schedule.current_round_ = 0;
  active_.push_back(&schedule);
  try {
    if (schedule.rounds_.empty()) {
      active_.pop_back();
      finish(schedule);
    } else {
      start_round(schedule);
    }
  } catch (...) {
    active_.pop_back();
    schedule.error_ = std::current_exception();
    finish(schedule);
  }
}

void ScheduleExecutor::start_round(Schedule& schedule) {
  const Schedule::Round& round = schedule.rounds_[schedule.current_round_];
  schedule.open_requests_ = round.request_count;
  if (round.request_count > 0) schedule.messages_->start(round.first_request, round.request_count);
}

bool ScheduleExecutor::test_requests(Schedule& schedule) {
  const Schedule::Round& round = schedule.rounds_[schedule.current_round_];
  const std::size_t count =
      schedule.messages_->test(round.first_request, round.request_count, completed_);
  if (count == 0) return false;
  const std::uint64_t run = schedule.posted_runs();
  for (std::size_t i = 0; i < count; ++i) {
    const auto request = static_cast<std::size_t>(completed_[i]);
    Schedule::Operation& operation = schedule.operations_[round.first_request + request];
    perfmodel::trace_instant(operation.is_receive ? "received from" : "sent to", operation.rank);
    operation.finished_run.store(run, std::memory_order_release);
  }
  schedule.open_requests_ -= count;
  return true;
}

bool ScheduleExecutor::advance(Schedule& schedule) {
  if (schedule.open_requests_ > 0 && !test_requests(schedule)) return false;
  while (schedule.open_requests_ == 0) {
    const Schedule::Round& round = schedule.rounds_[schedule.current_round_];
    if (round.afterwards) round.afterwards();
    if (++schedule.current_round_ == schedule.rounds_.size()) return true;
    start_round(schedule);
  }
  return true;
}

bool ScheduleExecutor::progress() {
  bool moved = false;
  for (std::size_t i = 0; i < active_.size();) {
    Schedule& schedule = *active_[i];
    bool ended = false;
    try {
      moved = advance(schedule) || moved;
      ended = schedule.current_round_ == schedule.rounds_.size();
    } catch (...) {
      schedule.error_ = std::current_exception();
      ended = moved = true;
    }
    if (ended) {
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
      finish(schedule);  // its owner may destroy it afterwards
    } else {
      ++i;
    }
  }
  return moved;
}

void ScheduleExecutor::finish(Schedule& schedule) {
  auto* const trace = perfmodel::ThreadTrace::of_this_thread();
  if (trace && schedule.begin_ns_ > 0)  // false if tracing began during the run
    trace->record(schedule.trace_name_, perfmodel::ThreadTrace::Kind::overlapping,
                  schedule.begin_ns_, perfmodel::ThreadTrace::now());
  schedule.finished_runs_.store(schedule.posted_runs(), std::memory_order_release);
}

}  // namespace weft::comm_thread
