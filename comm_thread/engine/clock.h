#pragma once

#include "perfmodel/stopwatch.h"

namespace weft::comm_thread {

/// The clock of everything that runs on a communication thread: the steady clock, or that of a
/// simulation. Thread: any.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Only differences between them have a meaning.
  virtual double seconds() const { return perfmodel::seconds_now(); }

  /// Says that something of the calling rank is due at that time, and nothing before it unless a
  /// message comes. A simulation polls the rank then; real threads poll all the time.
  virtual void wake_at(double seconds) const { static_cast<void>(seconds); }

  static const Clock& steady() {
    static const Clock clock;
    return clock;
  }
};

}  // namespace weft::comm_thread
