#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/schedule.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"

namespace weft::comm_thread {

/// Sums over all threads of all ranks; the bits do not depend on the numbers of threads and ranks.
///
/// Threads add to separate accumulators; the primary thread merges them and posts a schedule that
/// adds the accumulators of all ranks. Because nothing is rounded, every rank may add in its own
/// order: recursive doubling, ⌈log2 p⌉ rounds of 568 bytes per scalar instead of the 2·log2 p of
/// reduce and broadcast.
///
/// Memory ordering: parts are written by their threads before the first team barrier and read by
/// the primary thread after it; results are written before the second barrier and read after it.
/// Lifetime: `comm_thread` outlives it.
class ReproducibleSum {
 public:
  /// `scalar_count`: number of sums reduced together. Collective: duplicates the communicator.
  ReproducibleSum(const Communicator& communicator, CommThread& comm_thread, int thread_count,
                  int scalar_count);

  /// The accumulator of one thread for one sum.
  ExactAccumulator& part(int thread, int scalar = 0) {
    return parts_[static_cast<std::size_t>(thread)].sums[static_cast<std::size_t>(scalar)];
  }

  /// Reduces and then clears all parts. Thread: every thread of the team. Collective.
  void collective_reduce(const TeamThread& thread) {
    collective_start(thread);
    collective_finish(thread);
  }

  /// The two steps of `collective_reduce`, with other work between them during the communication;
  /// nothing may be added to the parts meanwhile. Thread: every thread of the team. Collective.
  void collective_start(const TeamThread& thread);
  void collective_finish(const TeamThread& thread);

  /// The last sum, the same on all threads of all ranks.
  double result(int scalar = 0) const { return results_[static_cast<std::size_t>(scalar)]; }

  /// This rank's contribution to the sum, rounded. Thread: the primary one, between
  /// `collective_start` and `collective_finish`.
  double own_sum(int scalar = 0) const { return merged(scalar).rounded(); }

 private:
  struct alignas(64) Part {
    std::vector<ExactAccumulator> sums;
  };

  std::unique_ptr<Schedule> build_schedule();
  /// Sum of the parts, which are normalised.
  ExactAccumulator merged(int scalar) const;
  void merge_parts();

  Communicator communicator_;
  CommThread& comm_thread_;
  std::size_t scalar_count_;
  std::vector<Part> parts_;  // [thread_count]
  std::vector<std::int64_t> words_;  // [scalar_count × word_count], to send
  std::vector<std::int64_t> received_;  // the same, per round
  std::vector<double> results_;  // [scalar_count]
  std::unique_ptr<Schedule> schedule_;  // empty on one rank
  std::optional<Pending> pending_;  // of the primary thread
};

}  // namespace weft::comm_thread
