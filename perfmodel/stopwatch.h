#pragma once

#include <chrono>

namespace weft::perfmodel {

/// Seconds of the steady clock; only differences between them have a meaning.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds since it was made.
class Stopwatch {
 public:
  double seconds() const { return seconds_now() - begin_; }

 private:
  double begin_ = seconds_now();
};

}  // namespace weft::perfmodel
