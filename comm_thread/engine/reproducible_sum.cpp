#include "comm_thread/engine/reproducible_sum.h"

#include <algorithm>
#include <span>

#include "comm_thread/engine/recursive_doubling.h"

namespace weft::comm_thread {

ReproducibleSum::ReproducibleSum(const Communicator& communicator, CommThread& comm_thread,
                                 int thread_count, int scalar_count)
    : communicator_(communicator.collective_duplicate()),
      comm_thread_(comm_thread),
      scalar_count_(static_cast<std::size_t>(scalar_count)),
      parts_(static_cast<std::size_t>(thread_count)),
      words_(scalar_count_ * ExactAccumulator::word_count),
      received_(words_.size()),
      results_(scalar_count_) {
  for (Part& part : parts_) part.sums.resize(scalar_count_);
  schedule_ = build_schedule();
}

std::unique_ptr<Schedule> ReproducibleSum::build_schedule() {
  Schedule::Builder builder(communicator_, "all-reduce");
  // Normalised digits are below 2^32: the words of 2^31 ranks can be added without overflow.
  add_recursive_doubling(builder, communicator_, std::as_writable_bytes(std::span(words_)),
                         std::as_writable_bytes(std::span(received_)), [this] {
                           for (std::size_t i = 0; i < words_.size(); ++i)
                             words_[i] += received_[i];
                         });
  return builder.build();
}

ExactAccumulator ReproducibleSum::merged(int scalar) const {
  ExactAccumulator all;
  for (const Part& part : parts_)
    all.add_words(part.sums[static_cast<std::size_t>(scalar)].words());
  all.normalise();
  return all;
}

void ReproducibleSum::merge_parts() {
  for (std::size_t scalar = 0; scalar < scalar_count_; ++scalar) {
    for (Part& part : parts_) part.sums[scalar].normalise();
    const ExactAccumulator all = merged(static_cast<int>(scalar));
    std::copy(all.words().begin(), all.words().end(),
              words_.begin() + static_cast<std::ptrdiff_t>(scalar * ExactAccumulator::word_count));
  }
}

void ReproducibleSum::collective_start(const TeamThread& thread) {
  thread.barrier();
  if (!thread.is_primary()) return;
  merge_parts();
  if (!schedule_->is_empty()) pending_ = comm_thread_.post(*schedule_);
}

void ReproducibleSum::collective_finish(const TeamThread& thread) {
  if (thread.is_primary()) {
    if (pending_) pending_->wait();
    for (std::size_t scalar = 0; scalar < scalar_count_; ++scalar) {
      ExactAccumulator sum;
      sum.add_words(std::span(words_)
                        .subspan(scalar * ExactAccumulator::word_count)
                        .first<ExactAccumulator::word_count>());
      results_[scalar] = sum.rounded();
    }
  }
  thread.barrier();
  for (ExactAccumulator& sum : parts_[static_cast<std::size_t>(thread.index)].sums) sum.clear();
}

}  // namespace weft::comm_thread
