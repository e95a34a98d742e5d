#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/schedule.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/probe/overlap_result.h"
#include "perfmodel/huge_page_buffer.h"

namespace weft::comm_thread {

/// One non-blocking operation between all ranks that can be started by the calling thread, as MPI
/// programs do, or by the communication thread, and whose contents can be checked.
///
///     isend_irecv, put_flush   to the rank half of all ranks further, which is on another node
///                              where there are two: 0→2 1→3 2→0 3→1
///     neighbour_exchange       half of the bytes to either neighbour in the ring of ranks
///     all_reduce               sums of 32-bit words; the communication thread runs recursive
///                              doubling, as weft's own reductions do
///
/// Thread: one at a time. Lifetime: inside that of `comm_thread`; construction and destruction are
/// collective.
/// Source: Hager et al. 2011 ("Is nonblocking automatically asynchronous?").
class ProgressProbe {
 public:
  using Word = std::uint32_t;

  /// `bytes`: message size of each rank, a multiple of `sizeof(Word)`, less than 2^31.
  /// `idle`: how to wait: `spin` if the communication thread has a core of its own.
  /// Throws MpiError.
  ProgressProbe(const Communicator& communicator, CommThread& comm_thread,
                ProgressOperation operation, std::size_t bytes, WaitPolicy idle);
  ~ProgressProbe();
  ProgressProbe(const ProgressProbe&) = delete;
  ProgressProbe& operator=(const ProgressProbe&) = delete;

  /// Sets new contents to send and clears those received. Collective; nothing may be in flight.
  void collective_refill();

  /// Starts the operation on all ranks alike. `plain` and `mpi_progress_thread` are the same here:
  /// the library decides when it is initialised.
  void start(ProgressMethod method);

  /// Returns when the operation started last is complete. Throws MpiError.
  void wait();

  /// Number of words, over all ranks, that differ from those sent since the last refill.
  /// Collective; nothing may be in flight.
  std::int64_t collective_wrong_words();

 private:
  struct Message {
    bool is_receive;
    std::size_t first_word;
    std::size_t word_count;
    int rank;
    int tag;
  };

  int rank_after(int distance) const;
  Word word_of(int rank, std::size_t index) const;
  Word expected_word(std::size_t index) const;
  void plan_messages();
  void open_window();
  std::unique_ptr<Schedule> build_schedule();
  void add_all_reduce(Schedule::Builder& builder);
  void start_plain();
  void put_and_flush();
  bool test_requests();

  Communicator communicator_;
  CommThread& comm_thread_;
  ProgressOperation operation_;
  WaitPolicy idle_;
  perfmodel::HugePageBuffer<Word> sent_;
  perfmodel::HugePageBuffer<Word> landing_;  // empty for put_flush
  perfmodel::HugePageBuffer<Word> partial_;  // from one rank, for all_reduce
  std::span<Word> received_;  // `landing_` or the window's memory
  MPI_Win window_ = MPI_WIN_NULL;
  int target_;
  int origin_;
  Word seed_ = 0;
  std::vector<Message> messages_;
  std::vector<MPI_Request> requests_;  // of a plain start or a put, of the thread that made it
  std::unique_ptr<Schedule> schedule_;
  std::optional<Pending> pending_;  // of the communication thread's run
};

/// Half the time that 8 bytes take to a rank and back. Unit: seconds.
struct Latency {
  double median = 0;  // of many round trips
  double least = 0;  // with nothing in the way
};

/// Latency of the link to the rank half of all ranks further, the same on all ranks. Collective
/// over two ranks or more.
Latency collective_latency(const Communicator& communicator);
/// Its median. Unit: seconds. Collective over two ranks or more.
double collective_latency_seconds(const Communicator& communicator);

}  // namespace weft::comm_thread
