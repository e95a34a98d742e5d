#include "spmv/modes/overlap_mode.h"

namespace weft::spmv {

void run_in_overlap_mode(const comm_thread::TeamThread& thread, const OverlappedWork& work,
                         Progress progress) {
  run_around_halo(thread, work, pack_and_start(thread, work, Starter::primary_thread), progress);
}

}  // namespace weft::spmv
