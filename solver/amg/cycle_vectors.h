#pragma once

#include <memory>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsest_level.h"
#include "solver/amg/level.h"
#include "solver/amg/settings.h"

namespace weft::solver::amg {

/// Gives each of `levels`, whose products exist, the vectors of a cycle with their halos, and notes
/// in its report what it exchanges in a cycle and what memory it takes. `coarsest`: the direct
/// solution on the last level; null: none. Every rank, without waiting for others. Thread: the main
/// thread, outside the team.
template <class Value>
void make_cycle_vectors(const comm_thread::Crew& crew, const Settings& settings,
                        std::vector<std::unique_ptr<Level<Value>>>& levels,
                        const CoarsestLevel* coarsest);

extern template void make_cycle_vectors(const comm_thread::Crew&, const Settings&,
                                        std::vector<std::unique_ptr<Level<float>>>&,
                                        const CoarsestLevel*);
extern template void make_cycle_vectors(const comm_thread::Crew&, const Settings&,
                                        std::vector<std::unique_ptr<Level<double>>>&,
                                        const CoarsestLevel*);

}  // namespace weft::solver::amg
