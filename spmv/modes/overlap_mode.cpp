#include "spmv/modes/overlap_mode.h"

#include <optional>

namespace weft::spmv {

using perfmodel::Phase;
using perfmodel::PhaseScope;

void run_in_overlap_mode(const comm_thread::TeamThread& thread, const OverlappedWork& work,
                         Progress progress) {
  auto& messages = work.halo.messages();
  std::optional<comm_thread::Pending> halo;
  {
    const PhaseScope scope(work.timer, thread.index, Phase::pack);
    work.halo.pack(thread.index);
    thread.barrier();
    if (thread.is_primary() && !messages.is_empty()) halo = messages.start_here(work.comm_thread);
  }
  run_around_halo(thread, work, halo, progress);
}

}  // namespace weft::spmv
