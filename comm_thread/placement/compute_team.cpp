#include "comm_thread/placement/compute_team.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>

#include "comm_thread/mpi/input_error.h"

namespace weft::comm_thread {
namespace {

struct Job {
  const std::function<void(const TeamThread&)>* work;
  TeamBarrier barrier;
  int thread_count;
  std::vector<std::exception_ptr> errors;
  std::atomic<int> finished{0};
  bool is_small = false;  // OpenMP gave fewer threads
};

/// Passed here rather than through the captures of the parallel region: ThreadSanitizer cannot see
/// how the OpenMP runtime passes captures. Only one team of a process computes at a time.
std::atomic<Job*> current_job{nullptr};

void take_part(int index) {
  Job& job = *current_job.load(std::memory_order_acquire);
  try {
    (*job.work)(TeamThread{index, job.thread_count, &job.barrier});
  } catch (...) {
    job.errors[static_cast<std::size_t>(index)] = std::current_exception();
    job.barrier.break_up();
  }
  job.finished.fetch_add(1, std::memory_order_release);
}

/// Rethrows the original error, not that of a thread which only noticed that another had failed.
void rethrow_first(const std::vector<std::exception_ptr>& errors) {
  std::exception_ptr broken;
  for (const std::exception_ptr& error : errors) {
    if (!error) continue;
    try {
      std::rethrow_exception(error);
    } catch (const TeamBroken&) {
      broken = error;
    }
  }
  if (broken) std::rethrow_exception(broken);
}

/// Restores the settings of OpenMP, which the caller may use for its own parallel regions.
class KeptSettings {
 public:
  KeptSettings() = default;
  ~KeptSettings() {
    omp_set_dynamic(dynamic_);
    omp_set_max_active_levels(levels_);
  }
  KeptSettings(const KeptSettings&) = delete;
  KeptSettings& operator=(const KeptSettings&) = delete;

 private:
  int dynamic_ = omp_get_dynamic();
  int levels_ = omp_get_max_active_levels();
};

}  // namespace

Share share_of(std::int64_t count, int index, int count_of_threads) {
  return {count * index / count_of_threads, count * (index + 1) / count_of_threads};
}

ComputeTeam::ComputeTeam(int thread_count, WaitPolicy policy,
                         const std::function<void(int)>& on_thread_start)
    : thread_count_(thread_count), policy_(policy) {
  if (omp_get_thread_limit() < thread_count)
    throw InputError("OMP_THREAD_LIMIT is " + std::to_string(omp_get_thread_limit()) +
                     "; expected at least the " + std::to_string(thread_count) +
                     " compute threads of a rank");
  if (on_thread_start) run([&](const TeamThread& thread) { on_thread_start(thread.index); });
}

void ComputeTeam::run(const std::function<void(const TeamThread&)>& work) const {
  Job job{&work, TeamBarrier(thread_count_, policy_), thread_count_,
          std::vector<std::exception_ptr>(static_cast<std::size_t>(thread_count_))};
  if (thread_count_ == 1) {
    work(TeamThread{0, 1, &job.barrier});
    return;
  }
  const KeptSettings kept;
  omp_set_dynamic(0);
  omp_set_max_active_levels(std::max(1, omp_get_max_active_levels()));
  current_job.store(&job, std::memory_order_release);
#pragma omp parallel num_threads(thread_count_)
  {
    // A smaller team would wait forever for its missing threads.
    Job& all = *current_job.load(std::memory_order_acquire);
    if (omp_get_num_threads() == all.thread_count)
      take_part(omp_get_thread_num());
    else if (omp_get_thread_num() == 0)
      all.is_small = true;
  }
  if (job.is_small)
    throw std::logic_error("OpenMP gives too few threads; expected no parallel region around it");
  while (job.finished.load(std::memory_order_acquire) < thread_count_) continue;
  rethrow_first(job.errors);
}

}  // namespace weft::comm_thread
