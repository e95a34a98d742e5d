#pragma once

#include <vector>

#include "spmv/modes/linear_operator.h"

namespace weft::solver {

/// A column of a panel, times `factor`, and turned around where its entry of largest modulus (the
/// first of equal ones on the lowest rank) would be negative. Shape: panel: [element_count ·
/// width], row by row; result: [element_count]. Collective. Thread: the main thread, outside the
/// team.
std::vector<double> collective_signed_column(const spmv::LinearOperator& op, const double* panel,
                                             int width, int column, double factor = 1);

}  // namespace weft::solver
