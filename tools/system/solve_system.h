#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "library/options/matrix_settings.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/order/row_order.h"
#include "spmv/problems/problem.h"
#include "spmv/problems/right_hand_side.h"
#include "spmv/rows/partition.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// The linear system that `weft solve` solves: an operator, with a matrix or without, and b.
class SolveSystem {
 public:
  using Vector = perfmodel::HugePageBuffer<double>;

  /// `is_matrix_free`: apply the stencil of a grid problem instead of a matrix.
  /// `most_columns`: right-hand sides that a file may have as columns.
  /// Collective. Throws comm_thread::InputError. `job` outlives it.
  SolveSystem(Job& job, const library::MatrixSettings& options, const spmv::Problem& problem,
              const spmv::RightHandSide& right_hand_side, bool is_matrix_free,
              std::int64_t most_columns = 1);

  spmv::LinearOperator& op() { return *operator_; }
  /// The same where it has a matrix; null otherwise.
  const spmv::SparseOperator* matrix_operator() const {
    return dynamic_cast<const spmv::SparseOperator*>(operator_.get());
  }
  std::span<const double> b() const { return b_.front().span(); }
  /// All right-hand sides.
  const std::vector<Vector>& columns() const { return b_; }

  std::int64_t nonzero_count() const { return nonzero_count_; }
  /// Bytes of the matrix as all ranks store it at present; 0 without a matrix. Collective.
  double collective_matrix_bytes(const Job& job) const;
  /// Names how the matrix is stored at present: products may change it.
  std::string format_name() const;
  /// Times by which the form of storage was chosen, of this rank; none where there was no choice.
  std::optional<spmv::StorageTimes> storage_times() const;
  /// True while products have not yet chosen.
  bool has_undecided_storage() const;
  std::int64_t boundary_row_count() const { return boundary_row_count_; }
  /// Gains of the order of the rows; null without one.
  const Json& ordering() const { return ordering_; }
  /// Why rows are in this order, a phrase; empty where it was not chosen.
  const std::string& order_choice() const { return order_choice_; }

  /// This rank's part of a vector from a file, whose rows are those given. Collective. Throws
  /// comm_thread::InputError.
  std::vector<double> collective_read(const Job& job, const std::string& path) const;
  /// The same of as many vectors as there are right-hand sides.
  std::vector<std::vector<double>> collective_read_columns(const Job& job,
                                                           const std::string& path) const;

  /// The number of a row as given, from its number in the operator. Collective.
  spmv::GlobalIndex collective_given_row(const Job& job, spmv::GlobalIndex row) const;

  /// Writes vectors of the operator as columns, in the order of the rows as given; as .vti only
  /// where the problem has a grid, and one of them. Collective. Throws comm_thread::InputError.
  void collective_write(const Job& job, const std::vector<std::span<const double>>& vectors,
                        const std::string& path) const;

 private:
  void load_matrix(Job& job, library::MatrixSettings options, const spmv::Problem& problem,
                   const spmv::RightHandSide& right_hand_side, std::int64_t most_columns);
  const spmv::RowPartition& given() const { return order_ ? order_->given() : *row_partition_; }
  const spmv::RowOrder* order() const { return order_ ? &*order_ : nullptr; }
  void make_stencil(Job& job, const spmv::Problem& problem,
                    const spmv::RightHandSide& right_hand_side);

  spmv::GridSize grid_;  // of the problem, where it has one
  std::unique_ptr<spmv::LinearOperator> operator_;
  std::vector<Vector> b_;  // of each right-hand side
  std::int64_t nonzero_count_ = 0;
  double grid_bytes_ = 0;  // of all ranks, without a matrix
  std::string grid_name_;
  std::int64_t boundary_row_count_ = 0;
  const spmv::RowPartition* row_partition_ =
      nullptr;  // which rows are whose; null without a matrix
  std::optional<spmv::RowOrder> order_;
  Json ordering_;
  std::string order_choice_;
};

}  // namespace weft::tools
