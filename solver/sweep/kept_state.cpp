#include "solver/sweep/kept_state.h"

namespace weft::solver {

void collective_keep(Checkpoints& checkpoints, const comm_thread::TeamThread& thread,
                     std::int64_t iteration, KeptState& state) {
  checkpoints.collective_keep_by(thread, iteration, state.scalars(),
                                 [&](const PackedRows& rows, std::size_t vector, double* packed) {
                                   state.save(thread, rows, vector, packed);
                                 });
  thread.barrier();
}

std::int64_t collective_restore(Checkpoints& checkpoints, const comm_thread::TeamThread& thread,
                                KeptState& state) {
  if (!checkpoints.has_state()) return 0;
  const std::int64_t iteration = checkpoints.state_iteration();
  checkpoints.collective_restore_by(
      thread, state.scalars(),
      [&](const PackedRows& rows, std::size_t vector, const double* packed) {
        state.load(thread, rows, vector, packed, iteration);
      });
  return iteration;
}

}  // namespace weft::solver
