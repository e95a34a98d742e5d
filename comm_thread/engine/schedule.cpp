#include "comm_thread/engine/schedule.h"

#include <utility>

#include "perfmodel/thread_trace.h"

namespace weft::comm_thread {

Schedule::Builder::Builder(const MessageSpace& space, std::string name)
    : space_(space), name_(std::move(name)) {}

Schedule::Builder& Schedule::Builder::send(const void* data, std::size_t bytes, int rank, int tag) {
  drafts_.push_back({false, const_cast<void*>(data), bytes, rank, tag});
  return *this;
}

Schedule::Builder& Schedule::Builder::receive(void* data, std::size_t bytes, int rank, int tag) {
  drafts_.push_back({true, data, bytes, rank, tag});
  return *this;
}

Schedule::Builder& Schedule::Builder::end_round(std::function<void()> afterwards) {
  rounds_.push_back({round_begin_, drafts_.size() - round_begin_, std::move(afterwards)});
  round_begin_ = drafts_.size();
  return *this;
}

std::unique_ptr<Schedule> Schedule::Builder::build() {
  if (round_begin_ != drafts_.size()) end_round();
  std::unique_ptr<Schedule> schedule(new Schedule);
  schedule->name_ = std::move(name_);
  schedule->trace_name_ = perfmodel::kept_name(schedule->name_);
  schedule->rounds_ = std::move(rounds_);
  schedule->operations_ = std::make_unique<Operation[]>(drafts_.size());
  for (std::size_t i = 0; i < drafts_.size(); ++i) {
    const MessageDraft& draft = drafts_[i];
    schedule->operations_[i].is_receive = draft.is_receive;
    schedule->operations_[i].rank = draft.rank;
    if (draft.is_receive) schedule->receives_.push_back(i);
  }
  schedule->operation_count_ = drafts_.size();
  schedule->messages_ = space_.prepare(drafts_);
  return schedule;
}

Schedule::~Schedule() {
  // Nothing may be freed while MPI writes to it.
  while (finished_runs() < posted_runs())
    if (progress_by_poster_) progress_by_poster_();
}

bool Schedule::has_received(std::size_t receive, std::uint64_t run) const {
  return operations_[receives_[receive]].finished_run.load(std::memory_order_acquire) >= run;
}

std::string Schedule::missing() const {
  const std::uint64_t run = posted_runs();
  std::string text;
  for (const Round& round : rounds_) {
    for (std::size_t i = round.first_request; i < round.first_request + round.request_count; ++i) {
      const Operation& operation = operations_[i];
      if (operation.finished_run.load(std::memory_order_acquire) >= run) continue;
      text += text.empty() ? name_ + ": " : ", ";
      text += operation.is_receive ? "receive from rank " : "send to rank ";
      text += std::to_string(operation.rank);
    }
    if (!text.empty()) break;  // later rounds have not begun
  }
  return text;
}

}  // namespace weft::comm_thread
