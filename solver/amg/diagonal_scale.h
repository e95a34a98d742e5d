#pragma once

#include <vector>

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/row_values.h"

namespace weft::solver::amg {

/// D^(-1/2) of this rank's rows and their halo. Where the diagonal is not above `least`: an error
/// on the finest level, 0 on others. `least`: of each row; empty on the finest level. Collective.
/// Throws comm_thread::InputError.
void collective_scale(const comm_thread::Crew& crew, const LevelMatrix& level,
                      const std::vector<double>& least, RowValues<double>& scale);

}  // namespace weft::solver::amg
