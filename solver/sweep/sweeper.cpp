#include "solver/sweep/sweeper.h"

namespace weft::solver {

void Sweeper::advance(const comm_thread::TeamThread& thread, int count) {
  for (int i = 0; i < count; ++i) {
    sweep(thread, SweepPart::all, nullptr);
    thread.barrier();
    if (thread.is_primary()) finish_sweep();
    thread.barrier();
  }
}

}  // namespace weft::solver
