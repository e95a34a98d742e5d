#pragma once

#include <optional>

#include "spmv/order/row_order.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/distributed_matrix.h"
#include "tools/job/job.h"
#include "tools/job/report.h"
#include "tools/job/system_options.h"

namespace weft::tools {

/// A matrix in the order in which it is worked on.
struct OrderedMatrix {
  spmv::DistributedMatrix matrix;
  std::optional<spmv::RowOrder> order;  // none: the rows as given
  Json report;  // gains of the order; null without one
};

/// Reads or generates the matrix and orders its rows as --order and --partition say.
/// Collective. Throws comm_thread::InputError. `job` outlives it.
OrderedMatrix collective_load_ordered_matrix(const Job& job, const spmv::Problem& problem,
                                             const SystemOptions& options);

/// A line of the summary; nothing for null.
void print_ordering(const Json& report);

}  // namespace weft::tools
