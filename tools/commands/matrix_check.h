#pragma once

#include <string>

#include "solver/choice/matrix_traits.h"
#include "tools/system/solve_options.h"
#include "tools/system/solve_system.h"

namespace weft::tools {

/// Traits of the matrix, whose asymmetry is in the numbers of the rows as given. Collective.
solver::MatrixTraits collective_find_given_traits(const Job& job, const SolveSystem& system,
                                                  const spmv::SparseOperator& matrix);

/// Refuses a matrix that is not symmetric where the method or the preconditioner needs one that is,
/// unless --force. `problem`: for the message. Every rank alike. Throws comm_thread::InputError.
void check_symmetry(const SolveOptions& options, const solver::MatrixTraits& traits,
                    const std::string& problem);

}  // namespace weft::tools
