#include "library/measure/calibrated_work.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "perfmodel/stopwatch.h"

namespace weft::library {

CalibratedWork::CalibratedWork() : seconds_per_step_(std::numeric_limits<double>::max()) {
  constexpr std::int64_t steps = 200'000;
  for (int sample = 0; sample < 9; ++sample) {
    const perfmodel::Stopwatch watch;
    run(steps);
    seconds_per_step_ = std::min(seconds_per_step_, watch.seconds() / static_cast<double>(steps));
  }
}

std::int64_t CalibratedWork::steps_for(double seconds) const {
  return std::llround(seconds / seconds_per_step_);
}

void CalibratedWork::run(std::int64_t steps) {
  double value = 0.5;  // not the fixed point, which the compiler would find
  for (std::int64_t step = 0; step < steps; ++step) value = value * 0.999 + 0.001;
  [[maybe_unused]] volatile double result = value;  // keeps the loop
}

}  // namespace weft::library
