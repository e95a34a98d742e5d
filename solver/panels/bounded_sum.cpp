#include "solver/panels/bounded_sum.h"

#include <algorithm>
#include <limits>
#include <span>

#include "comm_thread/engine/recursive_doubling.h"

namespace weft::solver {

BoundedSum::BoundedSum(const comm_thread::Communicator& communicator,
                       comm_thread::CommThread& comm_thread, int thread_count, int scalar_count)
    : communicator_(communicator.collective_duplicate()),
      comm_thread_(comm_thread),
      scalar_count_(static_cast<std::size_t>(scalar_count)),
      parts_(static_cast<std::size_t>(thread_count), Part(scalar_count_)),
      words_(2 * scalar_count_ + 1),
      received_(words_.size()),
      results_(scalar_count_) {
  comm_thread::Schedule::Builder builder(communicator_, "all-reduce");
  comm_thread::add_recursive_doubling(builder, communicator_,
                                      std::as_writable_bytes(std::span(words_)),
                                      std::as_writable_bytes(std::span(received_)), [this] {
                                        for (std::size_t i = 0; i < words_.size(); ++i)
                                          words_[i] += received_[i];
                                      });
  schedule_ = builder.build();
}

void BoundedSum::merge_parts() {
  std::fill(words_.begin(), words_.end(), 0);
  for (const Part& part : parts_) {
    for (std::size_t i = 0; i < scalar_count_; ++i) {
      words_[i] += part.high_[i];
      words_[scalar_count_ + i] += part.low_[i];
    }
    words_.back() += part.fault_count_;
  }
}

void BoundedSum::collective_reduce(const comm_thread::TeamThread& thread) {
  thread.barrier();
  if (thread.is_primary()) {
    merge_parts();
    if (!schedule_->is_empty()) comm_thread_.post(*schedule_).wait();
    for (std::size_t i = 0; i < scalar_count_; ++i)
      results_[i] = words_.back() > 0 ? std::numeric_limits<double>::quiet_NaN()
                                      : static_cast<double>(words_[i]) / high_scale +
                                            static_cast<double>(words_[scalar_count_ + i]) /
                                                (high_scale * low_scale);
  }
  thread.barrier();
  Part& own = parts_[static_cast<std::size_t>(thread.index)];
  std::fill(own.high_.begin(), own.high_.end(), 0);
  std::fill(own.low_.begin(), own.low_.end(), 0);
  own.fault_count_ = 0;
}

}  // namespace weft::solver
