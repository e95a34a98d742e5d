#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "library/options/matrix_settings.h"
#include "library/solve/solve_context.h"
#include "library/system/ordered_matrix.h"
#include "library/system/vector_map.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/files/remarks.h"
#include "spmv/grid/grid_operator.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/problems/problem.h"
#include "spmv/problems/right_hand_side.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"

namespace weft::library {

/// A matrix with its rows in the order given.
struct LoadedMatrix {
  spmv::DistributedMatrix matrix;
  /// Why nobody should solve with it, as spmv::collective_settle_entries says; empty: no reason.
  std::string half{};
};

/// Reads or generates the matrix of `problem`, and mirrors what is half of a symmetric one.
/// `keeps_zeros`: explicit zeros stay, unless it is mirrored. `remarks`: gets what was dropped or
/// decided. Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError.
LoadedMatrix collective_load_matrix(const comm_thread::Communicator& communicator,
                                    const comm_thread::ComputeTeam& team,
                                    const spmv::Problem& problem, const MatrixSettings& settings,
                                    bool keeps_zeros, spmv::Remarks& remarks);

/// How many right-hand sides there are: several where a file has them as columns. Reads headers.
/// Collective. Throws comm_thread::InputError.
std::int64_t collective_count_right_hand_sides(const comm_thread::Communicator& communicator,
                                               const spmv::Problem& problem,
                                               const spmv::RightHandSide& right_hand_side);

/// A linear operator, with a matrix or without, and what is known of its rows: their order, and how
/// vectors of the rows as given become vectors of the operator. `weft solve` and weft::Matrix have
/// one each.
///
/// Functions named `collective_…` and the constructors are collective and throw
/// comm_thread::InputError on every rank. Thread: the main thread, outside the team.
/// Lifetime: what the crew refers to outlives it.
class LinearSystem {
 public:
  using Vector = perfmodel::HugePageBuffer<double>;
  using OnRemark = std::function<void(const std::string& remark)>;

  /// Reads or generates the matrix of a problem and orders its rows, or, `is_matrix_free`, applies
  /// the stencil of its grid.
  LinearSystem(const comm_thread::Crew& crew, spmv::Problem problem, const MatrixSettings& settings,
               bool is_matrix_free);
  /// A matrix in memory, whose rows stay in their order. `given`: the rows of vectors, where they
  /// are cut at other places than those of the matrix.
  LinearSystem(const comm_thread::Crew& crew, spmv::DistributedMatrix matrix,
               const std::optional<spmv::RowPartition>& given, const MatrixSettings& settings);
  /// The points of a grid.
  explicit LinearSystem(std::unique_ptr<spmv::GridOperator> op, spmv::Problem problem = {});
  /// Any operator on consecutive rows of each rank. `format`: names it.
  LinearSystem(std::unique_ptr<spmv::LinearOperator> op, const spmv::RowPartition& given,
               std::string format);
  LinearSystem(const LinearSystem&) = delete;
  LinearSystem& operator=(const LinearSystem&) = delete;

  const spmv::Problem& problem() const { return problem_; }  // a file where nothing is known
  std::string name() const { return problem_.name(); }  // empty where nothing is known
  spmv::LinearOperator& op() const { return *operator_; }
  /// The operator where it is a matrix; null otherwise.
  spmv::SparseOperator* matrix_operator() const { return matrix_; }
  VectorMap& map() const { return *map_; }
  std::size_t element_count() const { return operator_->element_count(); }
  /// The order of the rows, if they are not in that given, and what was said when it was chosen.
  const RowOrdering& ordering() const { return ordering_; }

  std::int64_t nonzero_count() const;
  /// Names how the operator is stored at present: products may change it.
  std::string format_name() const;
  /// Times by which the form of storage was chosen, of this rank; none where there was no choice.
  std::optional<spmv::StorageTimes> storage_times() const {
    return matrix_ ? matrix_->matrix().storage_times() : std::nullopt;
  }
  /// Bytes of what all ranks store in the place of the matrix at present.
  double collective_matrix_bytes() const;
  std::int64_t collective_boundary_row_count() const;

  /// Why nobody should solve with the matrix as it is; empty: no reason.
  const std::string& half() const { return half_; }
  void set_half(std::string half) { half_ = std::move(half); }
  /// What was dropped or decided when the matrix was made or vectors were read, each once.
  const spmv::Remarks& remarks() const { return remarks_; }
  void remark(const std::string& remark);
  /// Tells `on_remark` each remark that there is, and from now on each that is made.
  void tell_remarks(OnRemark on_remark);

  /// What a solver is told. Lifetime: this outlives it.
  SystemContext context();

  /// b in the layout of the operator, first touched by the threads that will use it; at most `most`
  /// of them, where a file has several as columns.
  std::vector<Vector> collective_right_hand_sides(const spmv::RightHandSide& right_hand_side,
                                                  std::int64_t most = 1);
  /// The vectors in a file whose rows are those given, at most `most`.
  std::vector<Vector> collective_read(const std::string& path, std::int64_t most = 1);
  /// Vectors to begin with, `count` of them.
  std::vector<Vector> collective_read_start(const std::string& path, std::size_t count);

  /// Writes vectors of the operator as columns, in the order of the rows as given; as .vti only
  /// where the problem has a grid, and one of them.
  void collective_write(const std::vector<std::span<const double>>& vectors,
                        const std::string& path) const;

 private:
  void collective_use_matrix(const comm_thread::Crew& crew, OrderedMatrix ordered,
                             const std::optional<spmv::RowPartition>& given,
                             spmv::MatrixFormat format);
  void use_grid(std::unique_ptr<spmv::GridOperator> op);
  const comm_thread::Communicator& ranks() const { return operator_->communicator(); }

  spmv::Problem problem_;
  OnRemark on_remark_;
  spmv::Remarks remarks_;
  std::string half_;
  RowOrdering ordering_;
  std::unique_ptr<spmv::LinearOperator> operator_;
  spmv::SparseOperator* matrix_ = nullptr;  // the operator, where it is one of both
  const spmv::GridOperator* grid_ = nullptr;
  std::string format_;  // of any other operator
  std::optional<spmv::RowPartition> given_;  // the rows of vectors; none: a box of a grid
  std::unique_ptr<VectorMap> map_;
};

}  // namespace weft::library
