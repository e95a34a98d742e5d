#include "solver/levels/levels_preconditioner.h"

#include <utility>

namespace weft::solver {

using comm_thread::TeamThread;

LevelsPreconditioner::LevelsPreconditioner(const comm_thread::Crew& crew,
                                           std::unique_ptr<LevelCycle> cycle)
    : cycle_(std::move(cycle)), unit_(crew.communicator(), crew.team().thread_count()) {}

void LevelsPreconditioner::apply_to(const TeamThread& thread, int vector, const double* r,
                                    double* z) {
  unit_.collective_choose(thread, vector, cycle_->scale(),
                          [&] { return cycle_->largest(thread, r); });
  const double unit = unit_.value(vector);
  cycle_->collective_begin(thread, r, unit);
  cycle_->collective_end(thread, z, unit);
}

}  // namespace weft::solver
