#pragma once

#include <cstdint>

namespace weft::library {

/// Computation of a length that can be chosen and that needs no memory: a chain of multiply-adds in
/// registers (`do_work` of Hager et al. 2011).
class CalibratedWork {
 public:
  /// Times it on the calling thread: a few milliseconds.
  CalibratedWork();

  /// Steps that take this long on a core with nothing else to do.
  std::int64_t steps_for(double seconds) const;

  /// Thread: any.
  static void run(std::int64_t steps);

 private:
  double seconds_per_step_;
};

}  // namespace weft::library
