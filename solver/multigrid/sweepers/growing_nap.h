#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace weft::solver {

/// Naps between two looks, because others need the core. They grow, because each costs some
/// microseconds of a processor that the rank may be short of. Thread: one.
class GrowingNap {
 public:
  void take() {
    std::this_thread::sleep_for(next_);
    next_ = std::min(2 * next_, longest);
  }

  static constexpr std::chrono::microseconds shortest{50};
  static constexpr std::chrono::microseconds longest{400};

 private:
  std::chrono::microseconds next_ = shortest;
};

}  // namespace weft::solver
