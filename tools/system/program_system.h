#pragma once

#include <memory>

#include "library/options/matrix_settings.h"
#include "library/system/linear_system.h"
#include "library/system/ordered_matrix.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/distributed_matrix.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// The system of a command: refuses what the nodes have no memory for, and prints what there is to
/// remark. `is_solved`: half of a matrix is refused, too, which else is only remarked.
/// Collective. Throws comm_thread::InputError. Lifetime: `job` outlives it.
std::unique_ptr<library::LinearSystem> collective_make_system(Job& job,
                                                              const spmv::Problem& problem,
                                                              const library::MatrixSettings& given,
                                                              bool is_matrix_free,
                                                              bool is_solved = true);

/// Prints each remark on a system. Lifetime: `job` outlives it.
library::LinearSystem::OnRemark printing_remarks(const Job& job);

/// Reads or generates a matrix for a file, where explicit zeros stay; else the same.
spmv::DistributedMatrix collective_load_for_file(const Job& job, const spmv::Problem& problem,
                                                 const library::MatrixSettings& options);

/// Fills in the problem of a report: name, rows and nonzeros.
void report_matrix(const library::LinearSystem& system, Json& report);

/// The lines of a summary about that, and about the order of the rows.
void print_matrix(const Json& report);

/// Gains of the order of a matrix; null without one.
Json ordering_report(const library::RowOrdering& ordering);

/// A line of the summary; nothing for null.
void print_ordering(const Json& report);

}  // namespace weft::tools
