#pragma once

#include "library/options/matrix_settings.h"
#include "library/solve/ordered_matrix.h"
#include "spmv/problems/problem.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/system/linear_system.h"

namespace weft::tools {

/// Reads or generates the matrix and orders its rows as --order and --partition say.
/// Collective. Throws comm_thread::InputError. `job` outlives it.
library::OrderedMatrix collective_load_ordered_matrix(const Job& job, const spmv::Problem& problem,
                                                      const library::MatrixSettings& options,
                                                      MatrixUse use);

/// Gains of the order of a matrix; null without one.
Json ordering_report(const library::OrderedMatrix& ordered, const library::MatrixSettings& options);

/// A line of the summary; nothing for null.
void print_ordering(const Json& report);

}  // namespace weft::tools
