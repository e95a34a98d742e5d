#include "spmv/modes/vector_mode.h"

namespace weft::spmv {

using perfmodel::Phase;
using perfmodel::PhaseScope;

void run_in_vector_mode(const comm_thread::TeamThread& thread, const OverlappedWork& work) {
  auto& exchange = work.operand.exchange();
  {
    const PhaseScope scope(work.timer, thread.index, Phase::pack);
    work.operand.pack(thread.index);
    thread.barrier();
  }
  if (exchange.has_neighbours()) {
    const PhaseScope scope(work.timer, thread.index, Phase::halo_wait);
    if (thread.is_primary()) exchange.start_here(work.comm_thread).wait();
    thread.barrier();
    work.operand.unpack(thread);
  }
  const PhaseScope scope(work.timer, thread.index, Phase::local_part);
  work.work.run(RowSet::all, thread, {});
}

}  // namespace weft::spmv
