#pragma once

#include <functional>
#include <string>

#include "library/options/solve_settings.h"
#include "solver/choice/matrix_traits.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/rows/index.h"

namespace weft::library {

/// The number of a row as it was given, from its number in the operator. Collective.
using CollectiveGivenRow = std::function<spmv::GlobalIndex(spmv::GlobalIndex row)>;

/// Traits of the matrix, whose asymmetry is in the numbers of the rows as given. `given_row`: null
/// where both numbers are the same. Collective. Thread: the main thread, outside the team.
solver::MatrixTraits collective_find_given_traits(const spmv::SparseOperator& matrix,
                                                  const CollectiveGivenRow& given_row);

/// Refuses a matrix that is not symmetric where the method needs one that is, unless forced.
/// `name`: of the problem, for the message; may be empty. Every rank alike. Throws
/// comm_thread::InputError.
void check_symmetry(const SolveSettings& settings, const solver::MatrixTraits& traits,
                    const std::string& name);

}  // namespace weft::library
