#pragma once

#include <span>
#include <string>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/modes/linear_operator.h"

namespace weft::solver {

/// numerator / a_ii at this rank's rows, filled by the threads that own them.
/// `method`: who divides, for the message. Shape: [element_count]. Collective. Thread: the main
/// thread, outside the team. Throws comm_thread::InputError, on every rank, where the diagonal has
/// a zero.
perfmodel::HugePageBuffer<double> collective_invert_diagonal(const spmv::LinearOperator& op,
                                                             double numerator,
                                                             const std::string& method);

/// The largest magnitude among the rows of all ranks. Collective. Thread: as above.
double collective_largest(const spmv::LinearOperator& op, std::span<const double> values);

}  // namespace weft::solver
