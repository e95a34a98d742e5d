#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/schedule.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"

namespace weft::solver {

/// Sums over all threads of all ranks of numbers that are known to be small; the bits do not depend
/// on the numbers of threads and ranks.
///
/// Each addend becomes an integer multiple of 2⁻⁹⁶, in two words, and these are added as integers:
/// 16 bytes a sum where comm_thread::ReproducibleSum sends 568, for what needs to be exact below a
/// bound only, such as products of unit vectors.
///
/// Shape: the magnitudes of the addends of a sum, of all ranks together, are at most 2; there are
/// at most 2²⁶ of them. Larger ones, and those that are not finite, make all results NaN.
/// Memory ordering: as in ReproducibleSum. Lifetime: `comm_thread` outlives it.
class BoundedSum {
 public:
  /// What a thread adds.
  class alignas(64) Part {
   public:
    explicit Part(std::size_t scalar_count) : high_(scalar_count), low_(scalar_count) {}

    void add(std::size_t scalar, double value) {
      if (!(std::abs(value) <= 2)) {
        ++fault_count_;
        return;
      }
      const double scaled = value * high_scale;
      const auto whole = static_cast<std::int64_t>(scaled);
      high_[scalar] += whole;
      low_[scalar] += static_cast<std::int64_t>((scaled - static_cast<double>(whole)) * low_scale);
    }

   private:
    friend BoundedSum;
    std::vector<std::int64_t> high_;  // multiples of 2⁻⁶⁰
    std::vector<std::int64_t> low_;  // multiples of 2⁻⁹⁶
    std::int64_t fault_count_ = 0;
  };

  /// `scalar_count`: the most sums that are reduced together. Collective: duplicates the
  /// communicator.
  BoundedSum(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
             int thread_count, int scalar_count);

  Part& part(int thread) { return parts_[static_cast<std::size_t>(thread)]; }

  /// Reduces and then clears all parts. Thread: every thread of the team. Collective.
  void collective_reduce(const comm_thread::TeamThread& thread);

  /// Of a message: those of all sums, however many are used.
  std::size_t message_bytes() const { return words_.size() * sizeof(std::int64_t); }

  /// The last sum, the same on all threads of all ranks.
  double result(int scalar) const { return results_[static_cast<std::size_t>(scalar)]; }

 private:
  static constexpr double high_scale = 0x1p60;
  static constexpr double low_scale = 0x1p36;

  void merge_parts();

  comm_thread::Communicator communicator_;
  comm_thread::CommThread& comm_thread_;
  std::size_t scalar_count_;
  std::vector<Part> parts_;  // [thread_count]
  std::vector<std::int64_t> words_;  // [2 · scalar_count + 1], to send; the last counts faults
  std::vector<std::int64_t> received_;  // the same, per round
  std::vector<double> results_;  // [scalar_count]
  std::unique_ptr<comm_thread::Schedule> schedule_;  // empty on one rank
};

}  // namespace weft::solver
