#pragma once

#include <cstddef>
#include <vector>

#include "comm_thread/engine/exact_accumulator.h"

namespace weft::solver {

/// A sum over the threads of one rank, without rounding before its end.
///
/// Memory ordering: between adding and `collect`, and between `collect` and adding again, the team
/// meets at a barrier.
class TeamSum {
 public:
  explicit TeamSum(int thread_count) : parts_(static_cast<std::size_t>(thread_count)) {}

  comm_thread::ExactAccumulator& part(int thread) {
    return parts_[static_cast<std::size_t>(thread)].sum;
  }

  /// The sum of all parts, which are 0 afterwards. Thread: one, while nobody adds.
  double collect() {
    comm_thread::ExactAccumulator all;
    for (Part& part : parts_) {
      part.sum.normalise();
      all.add_words(part.sum.words());
      part.sum.clear();
    }
    return all.rounded();
  }

 private:
  struct alignas(64) Part {
    comm_thread::ExactAccumulator sum;
  };
  std::vector<Part> parts_;
};

}  // namespace weft::solver
