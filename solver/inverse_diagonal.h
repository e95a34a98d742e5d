#pragma once

#include <string>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/sparse_operator.h"

namespace weft::solver {

/// numerator / a_ii of this rank's rows, first touched by the threads that own them.
/// `method`: who divides, for the message. Shape: [row_count]. Collective. Thread: the main thread,
/// outside the team. Throws comm_thread::InputError, on every rank, where the diagonal has a zero.
perfmodel::HugePageBuffer<double> collective_invert_diagonal(const spmv::SparseOperator& op,
                                                             double numerator,
                                                             const std::string& method);

}  // namespace weft::solver
