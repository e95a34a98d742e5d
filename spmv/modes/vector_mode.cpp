#include "spmv/modes/vector_mode.h"

namespace weft::spmv {

using perfmodel::Phase;
using perfmodel::PhaseScope;

void run_in_vector_mode(const comm_thread::TeamThread& thread, const OverlappedWork& work) {
  auto& messages = work.halo.messages();
  {
    const PhaseScope scope(work.timer, thread.index, Phase::pack);
    work.halo.pack(thread.index);
    thread.barrier();
  }
  if (!messages.is_empty()) {
    const PhaseScope scope(work.timer, thread.index, Phase::halo_wait);
    if (thread.is_primary()) messages.start_here(work.comm_thread).wait();
    thread.barrier();
    work.halo.unpack(thread);
  }
  const PhaseScope scope(work.timer, thread.index, Phase::local_part);
  work.work.run(RowSet::all, thread, {});
}

}  // namespace weft::spmv
