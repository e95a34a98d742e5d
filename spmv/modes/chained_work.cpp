#include "spmv/modes/chained_work.h"

#include "spmv/modes/run_around_halo.h"

namespace weft::spmv {

void run_chained(const comm_thread::TeamThread& thread, const ChainedWork& work) {
  run_around_halo(thread, work.first, pack_and_start(thread, work.first, work.first_starter),
                  Progress::in_wait);
  const auto second = pack_and_start(thread, work.second, work.second_starter);
  {
    const perfmodel::PhaseScope scope(work.first.timer, thread.index, perfmodel::Phase::local_part);
    work.rest.run(RowSet::interior, thread, {});
    thread.barrier();  // the second work reads rows of other threads
  }
  run_around_halo(thread, work.second, second, Progress::in_wait);
}

}  // namespace weft::spmv
