#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/matrix/block_product.h"
#include "spmv/matrix/split_matrix.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/modes/mode.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/halo_vector.h"

namespace weft::spmv {

/// A distributed sparse matrix as a linear operator, applied in any mode.
///
/// Lifetime: `communicator`, `comm_thread` and `team` outlive it.
class SparseOperator final : public LinearOperator {
 public:
  /// Collective: learns from the neighbours who needs what.
  SparseOperator(const comm_thread::Communicator& communicator,
                 comm_thread::CommThread& comm_thread, const comm_thread::ComputeTeam& team,
                 DistributedMatrix matrix, MatrixFormat format = MatrixFormat::automatic);

  /// The rows of this rank without the columns of others, as an operator of this rank alone: the
  /// same rows in the same memory, but its vectors have a halo that stays zero.
  /// `alone`: a communicator of this rank only. Lifetime: does not depend on that of this operator.
  SparseOperator diagonal_block(const comm_thread::Communicator& alone) const;

  const SplitMatrix& matrix() const { return *matrix_; }
  /// To update its values; blocks made by `diagonal_block` see the new ones.
  SplitMatrix& changeable_matrix() { return *matrix_; }
  const HaloPlan& halo_plan() const { return halo_plan_; }
  const comm_thread::Communicator& communicator() const override { return communicator_; }
  comm_thread::CommThread& comm_thread() const override { return comm_thread_; }
  const comm_thread::ComputeTeam& team() const override { return team_; }

  std::size_t element_count() const override {
    return static_cast<std::size_t>(matrix_->row_count());
  }
  /// Whole row blocks.
  std::span<const Segment> segments(int thread) const override {
    return segments_[static_cast<std::size_t>(thread)];
  }
  const LocalRows& local_rows() const override { return *matrix_; }
  std::int64_t global_row_count() const override { return matrix_->matrix().partition.row_count(); }
  double collective_norm() const override;
  bool sums_without_bound() const override { return true; }
  /// Forwards the forecast to SplitMatrix::expect_products.
  int expect_products(std::optional<std::int64_t> count) override {
    return matrix_->expect_products(count);
  }
  void expect_products_here(const comm_thread::TeamThread& thread, std::int64_t count) override {
    matrix_->expect_products_here(thread, count);
  }
  std::unique_ptr<Operand> collective_make_operand() override { return collective_make_vector(); }
  void apply(const comm_thread::TeamThread& thread, Mode mode, Operand& x, double* y,
             perfmodel::PhaseTimer& timer, RowSum x_dot_y) const override;
  void copy_diagonal(std::span<double> diagonal) const override;
  std::int64_t global_row(std::size_t element) const override {
    return matrix_->matrix().first_row() + static_cast<std::int64_t>(element);
  }

  /// `width` vectors, 1, 2, 4, 8 or 16, to apply the operator to, at once. Collective. Thread: the
  /// main thread, outside the team.
  std::unique_ptr<HaloVector<double>> collective_make_vector(int width = 1);

  /// `apply`, to the vectors of a matrix. Shape: y: [row_count], 64-byte aligned.
  void multiply(const comm_thread::TeamThread& thread, Mode mode, HaloVector<double>& x,
                std::span<double> y, perfmodel::PhaseTimer& timer,
                comm_thread::ExactAccumulator* x_dot_y = nullptr) const {
    apply(thread, mode, x, y.data(), timer, {x_dot_y});
  }

  /// Y = A·X for the vectors of a block; each has the bits of `apply`. `on_rows` gets the results
  /// of this thread's rows, piece by piece, and `results` say where they are.
  /// Thread: every thread of the team, after it wrote its rows of x. Collective. Throws
  /// comm_thread::MpiError.
  void apply_block(const comm_thread::TeamThread& thread, Mode mode, HaloVector<double>& x,
                   BlockResults results, const OnBlockRows& on_rows,
                   perfmodel::PhaseTimer& timer) const;

  /// The same where this rank needs nothing of others, on vectors of the caller. Shape: x:
  /// [row_count · width]. Thread: every thread of the team, with a barrier between two products.
  void apply_block_alone(const comm_thread::TeamThread& thread, int width, const double* x,
                         BlockResults results) const {
    BlockProduct(*matrix_, width, x, results, {}).run(RowSet::all, thread, {});
  }

 private:
  SparseOperator(const comm_thread::Communicator& communicator,
                 comm_thread::CommThread& comm_thread, const comm_thread::ComputeTeam& team,
                 HaloPlan halo_plan, std::shared_ptr<SplitMatrix> matrix);

  const comm_thread::Communicator& communicator_;
  comm_thread::CommThread& comm_thread_;
  const comm_thread::ComputeTeam& team_;
  HaloPlan halo_plan_;
  std::shared_ptr<SplitMatrix> matrix_;
  std::vector<std::vector<Segment>> segments_;  // [thread_count]
};

}  // namespace weft::spmv
