#include "tools/system/start_residual.h"

#include <cmath>

#include "comm_thread/engine/reproducible_sum.h"

namespace weft::tools {

double collective_start_residual(Job& job, solver::Sweeper& sweeper) {
  comm_thread::ReproducibleSum square(job.comm_thread_world(), job.comm_thread(),
                                      job.team().thread_count(), 1);
  job.team().run([&](const comm_thread::TeamThread& thread) {
    sweeper.add_residual(thread, solver::SweepState::current, square.part(thread.index));
    square.collective_reduce(thread);
  });
  return std::sqrt(square.result());
}

}  // namespace weft::tools
