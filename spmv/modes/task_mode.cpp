#include "spmv/modes/task_mode.h"

#include <optional>

#include "spmv/modes/run_around_halo.h"

namespace weft::spmv {

using perfmodel::Phase;
using perfmodel::PhaseScope;

void run_in_task_mode(const comm_thread::TeamThread& thread, const OverlappedWork& work) {
  auto& messages = work.halo.messages();
  std::optional<comm_thread::Pending> halo;
  {
    const PhaseScope scope(work.timer, thread.index, Phase::pack);
    work.halo.pack(thread.index);
    thread.barrier();
    if (thread.is_primary() && !messages.is_empty()) {
      halo = messages.post(work.comm_thread);
      halo->let_begin();
    }
  }
  run_around_halo(thread, work, halo, Progress::in_wait);
}

}  // namespace weft::spmv
