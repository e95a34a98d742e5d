#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace weft::solver {

/// Chooses, while an asynchronous iteration runs, after how many sweeps each it sends its halos: as
/// often as copying costs no more than a twentieth of the sweeps and the channels keep up.
///
/// Every `window` sweeps two periods are found and the longer one is taken:
///
///     copying   2·n·c / (0.05·s), rounded up: n messages a round are packed here and, by
///               neighbours who do alike, as many unpacked; c is the mean time of one such copy, in
///               the window where it was least, as part of it may not depend on the copies; s that
///               of a sweep
///     room      what the channels carried: period · (sent + skipped) / sent where any message was
///               skipped; an eighth less than before where none was
///
/// It changes by a factor of 2 at most, so that one window that the operating system has spoilt
/// does little harm. Pure logic.
class HaloPeriodChoice {
 public:
  static constexpr int longest = 128;
  static constexpr int window = 50;  // sweeps
  static constexpr double most_copying_fraction = 0.05;

  /// Costs of one sweep and of the copying around it, or the sums over several sweeps.
  struct Sweep {
    double sweep_seconds = 0;
    double copy_seconds = 0;  // of packing, unpacking and whatever else they cost the core
    std::uint64_t sent_count = 0;
    std::uint64_t skipped_count = 0;  // not sent, because there was no room
    std::uint64_t unpacked_count = 0;
  };

  void add(const Sweep& sweep);

  /// To be used from now on, from 1 to `longest`.
  int period() const { return period_; }

 private:
  void choose();
  double copying_period();
  double room_period() const;

  Sweep sum_;  // of this window
  int sweep_count_ = 0;
  int round_count_ = 0;  // in which anything was to be sent
  int period_ = 1;
  double least_copy_seconds_ = std::numeric_limits<double>::infinity();
  double copying_period_ = 1;
  double room_period_ = 1;
};

}  // namespace weft::solver
