#include "spmv/modes/overlap_mode.h"

#include <optional>

namespace weft::spmv {

using perfmodel::Phase;
using perfmodel::PhaseScope;

void run_in_overlap_mode(const comm_thread::TeamThread& thread, const OverlappedWork& work,
                         Progress progress) {
  auto& exchange = work.operand.exchange();
  std::optional<comm_thread::Pending> halo;
  {
    const PhaseScope scope(work.timer, thread.index, Phase::pack);
    work.operand.pack(thread.index);
    thread.barrier();
    if (thread.is_primary() && exchange.has_neighbours())
      halo = exchange.start_here(work.comm_thread);
  }
  run_around_halo(thread, work, halo, progress);
}

}  // namespace weft::spmv
