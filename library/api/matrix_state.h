#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "library/api/job_state.h"
#include "library/include/weft/weft.hpp"
#include "library/options/solve_settings.h"
#include "library/solve/ordered_matrix.h"
#include "library/state/caller_rows.h"
#include "library/state/operator_products.h"
#include "library/state/vector_map.h"
#include "spmv/files/remarks.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/order/row_order.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/partition.h"

namespace weft {
inline namespace v0 {

/// What a weft::Matrix is a handle of. Members are destroyed in the reverse of their order.
struct Matrix::State {
  State(std::shared_ptr<Job::State> of_job, library::SolveSettings wanted);

  comm_thread::Job& threads() { return *job->job; }
  /// At present: products may change it.
  std::string format_name() const;
  /// This rank's part of a vector from a file, in the order of `given`; what there is to remark
  /// joins the remarks, once. Collective. Throws comm_thread::InputError.
  std::vector<double> collective_read(const std::string& path);

  std::shared_ptr<Job::State> job;
  comm_thread::Communicator space;  // messages of this matrix alone
  library::SolveSettings settings;  // operator, format, order and partition of it
  spmv::Problem problem;  // a file where nothing is known
  std::string name;  // of the problem, for messages; empty for what the caller brings
  std::unique_ptr<library::CallerRows> caller_rows;
  std::optional<spmv::RowOrder> order;
  std::optional<spmv::RowPartition> given;  // the rows of vectors; none: a box of a grid
  std::unique_ptr<spmv::LinearOperator> op;
  std::unique_ptr<library::VectorMap> map;
  std::unique_ptr<library::OperatorProducts> products;  // once there was one
  spmv::SparseOperator* sparse = nullptr;  // the operator, where it is a matrix
  std::int64_t nonzero_count = 0;
  std::string grid_format;  // without a matrix
  std::uint64_t values_version = 0;  // counts updates
  std::uint64_t places_version = 0;  // counts those after which other places have entries
  std::string half;  // why nobody should solve with the matrix as it is; empty: no reason
  spmv::Remarks remarks;  // what was dropped or decided when it was made, or vectors were read
};

}  // namespace v0
}  // namespace weft
