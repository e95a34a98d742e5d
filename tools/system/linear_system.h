#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "library/options/matrix_settings.h"
#include "library/solve/ordered_matrix.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/order/row_order.h"
#include "spmv/problems/problem.h"
#include "spmv/problems/right_hand_side.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/system/memory_forecast.h"

namespace weft::tools {

/// What the matrix and two vectors will need. Collective. Throws comm_thread::InputError.
MemoryForecast collective_forecast_matrix(const Job& job, const spmv::Problem& problem,
                                          const library::MatrixSettings& options);

/// What a matrix from a file is for.
enum class MatrixUse {
  solve,  // one with entries on one side of the diagonal needs --triangle
  product,  // it is only remarked
  file,  // likewise; explicit zeros stay, unless it is mirrored
};

/// Reads or generates the matrix, rows in the order given; mirrors what --triangle says is half of
/// a symmetric one. Prints what there is to remark. Collective. Throws comm_thread::InputError.
spmv::DistributedMatrix collective_load_matrix(const Job& job, const spmv::Problem& problem,
                                               const library::MatrixSettings& options,
                                               MatrixUse use);

/// How many right-hand sides there are: several where a file has them as columns. Reads headers.
/// Collective. Throws comm_thread::InputError.
std::int64_t collective_count_right_hand_sides(const Job& job, const spmv::Problem& problem,
                                               const spmv::RightHandSide& right_hand_side);

/// The vectors in a file, at most `most`: this rank's part of each in turn. `given`: the rows as
/// the file has them; `order`: that of the operator's rows, null where it is the same. Prints what
/// there is to remark. Collective. Throws comm_thread::InputError.
void collective_read_vectors(const Job& job, const spmv::RowPartition& given,
                             const spmv::RowOrder* order, const std::string& path,
                             std::int64_t most,
                             const std::function<void(std::span<const double> vector)>& take);

/// b in the layout of the operator, first touched by the threads that will use it; at most `most`
/// of them, where a file has several as columns. `given`: the rows as given, whose numbers b is
/// named by; null for a grid without a matrix, which takes none from a file. `order`: that of the
/// operator's rows, null where it is the same. Collective. Throws comm_thread::InputError. Shape:
/// [element_count] each.
std::vector<perfmodel::HugePageBuffer<double>> collective_build_right_hand_sides(
    const Job& job, spmv::LinearOperator& op, const spmv::Problem& problem,
    const spmv::RightHandSide& right_hand_side, const spmv::RowPartition* given,
    const spmv::RowOrder* order, std::int64_t most);

/// As collective_load_matrix, with the rows in the order that --order and --partition say.
library::OrderedMatrix collective_load_ordered_matrix(const Job& job, const spmv::Problem& problem,
                                                      const library::MatrixSettings& options,
                                                      MatrixUse use);

/// Gains of the order of a matrix; null without one.
Json ordering_report(const library::OrderedMatrix& ordered, const library::MatrixSettings& options);

/// A line of the summary; nothing for null.
void print_ordering(const Json& report);

}  // namespace weft::tools
