#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::comm_thread {

/// Contributions of one rank over time, in bounded memory: of many sweeps only every second, every
/// fourth … is kept.
class ContributionHistory {
 public:
  static constexpr std::size_t capacity = 4096;

  ContributionHistory() : ContributionHistory(capacity) {}

  /// `most_samples`: kept at a time, even.
  explicit ContributionHistory(std::size_t most_samples) : most_samples_(most_samples) {
    samples_.reserve(most_samples);
  }

  /// Records a contribution. `seconds` must not decrease.
  void record(double seconds, double contribution, std::uint64_t iteration);

  /// This rank's last contribution at that time; infinite before the first sweep.
  double contribution_at(double seconds) const;

  /// This rank's iteration at that time; 0 before the first sweep.
  std::uint64_t iteration_at(double seconds) const;

  struct Sample {
    double seconds;
    double contribution;
    std::uint64_t iteration;
  };

  /// Recorded samples in the order of time.
  std::span<const Sample> samples() const { return samples_; }

 private:
  const Sample* newest_at(double seconds) const;
  void keep_every_second();

  std::size_t most_samples_;
  std::vector<Sample> samples_;
  std::uint64_t recorded_count_ = 0;
  std::uint64_t interval_ = 1;  // between those kept
};

}  // namespace weft::comm_thread
