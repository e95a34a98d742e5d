// A job on all ranks and cores: `mpiexec -n 2 job`. Every rank computes with its team, and the
// communication thread adds up what the ranks found.
#include "comm_thread/job/job.h"

#include <cstdio>
#include <vector>

#include "comm_thread/engine/all_reduce.h"

using weft::comm_thread::AllReduce;
using weft::comm_thread::Job;
using weft::comm_thread::ReduceOperation;
using weft::comm_thread::TeamThread;

int main() {
  Job job;  // or, for example: Job job({.threads = 4});
  std::vector<double> found(static_cast<std::size_t>(job.team().thread_count()));
  job.team().run([&](const TeamThread& thread) {
    found[static_cast<std::size_t>(thread.index)] = 1;  // on the core where the thread is pinned
  });

  constexpr int tag = 0;
  AllReduce sum(job.comm_thread_world(), ReduceOperation::sum, 1, tag);
  for (const double each : found) sum.values()[0] += each;
  const auto pending = sum.post(job.comm_thread());
  // Anything computed here overlaps with the messages.
  pending.wait();
  if (job.is_root())
    std::printf("%d ranks, %.0f compute threads\n", job.world().size(), sum.values()[0]);
}
