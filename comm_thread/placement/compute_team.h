#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>

#include "comm_thread/waiting/team_barrier.h"

namespace weft::comm_thread {

/// One thread's view of the compute team inside `ComputeTeam::run`.
struct TeamThread {
  int index = 0;
  int count = 1;
  TeamBarrier* barrier_of_team = nullptr;

  /// True on the thread that called `run`; only it talks to the communication thread.
  bool is_primary() const { return index == 0; }
  void barrier() const { barrier_of_team->arrive_and_wait(); }
};

/// A contiguous share of `count` items: thread `index` of `count_of_threads` gets
/// [begin, end), sizes differ by at most one.
struct Share {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
Share share_of(std::int64_t count, int index, int count_of_threads);

/// Calls work(item) for the share of thread `index` in a list of items.
template <class Items, class Work>
void for_each_of_share(const Items& items, int index, int count_of_threads, const Work& work) {
  const Share share = share_of(std::ssize(items), index, count_of_threads);
  for (std::int64_t i = share.begin; i < share.end; ++i) work(items[static_cast<std::size_t>(i)]);
}

/// The OpenMP threads of this rank that compute.
///
/// A solver runs its whole iteration inside one `run`, so that threads meet in TeamBarrier, whose
/// waiting follows the placement, and never in the OpenMP runtime's own barriers, which spin.
/// Thread: construct and call from the main thread. Lifetime: OpenMP keeps the threads until the
/// program ends.
class ComputeTeam {
 public:
  /// `thread_count` >= 1. `on_thread_start`: called once in each thread, with its index, before any
  /// work (the place to pin the thread). Throws InputError if OpenMP is limited to fewer threads.
  ComputeTeam(int thread_count, WaitPolicy policy,
              const std::function<void(int)>& on_thread_start = {});

  int thread_count() const { return thread_count_; }

  /// Runs `work` in every thread of the team and returns when all are done.
  /// Throws the exception of a failed thread; the others leave at their next barrier. Throws
  /// std::logic_error inside a parallel region of the caller. OpenMP's settings stay as they are.
  ///
  /// Memory ordering: the caller's earlier writes are visible in `work`, and the writes of `work`
  /// to the caller afterwards. The OpenMP runtime ensures that; the release/acquire pair on the job
  /// pointer and on the count of finished threads repeats it in terms that ThreadSanitizer can see.
  void run(const std::function<void(const TeamThread&)>& work) const;

 private:
  int thread_count_;
  WaitPolicy policy_;
};

}  // namespace weft::comm_thread
