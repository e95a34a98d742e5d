#include "spmv/modes/task_mode.h"

#include "spmv/modes/run_around_halo.h"

namespace weft::spmv {

void run_in_task_mode(const comm_thread::TeamThread& thread, const OverlappedWork& work) {
  run_around_halo(thread, work, pack_and_start(thread, work, Starter::communication_thread),
                  Progress::in_wait);
}

}  // namespace weft::spmv
