#pragma once

#include <vector>

#include "spmv/rows/distributed_matrix.h"

namespace weft::solver {

/// Cuts the graph between a rank's own rows into parts of about equal size with few edges between
/// them: the part, from 0, of each row. The same in every run. Columns of others are left out; the
/// pattern is taken to be symmetric, and made so where it is not.
/// Throws comm_thread::InputError where the graph has more edges than METIS can number.
std::vector<int> cut_rows(const spmv::CrsMatrix& rows, int part_count);

}  // namespace weft::solver
