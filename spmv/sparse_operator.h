#pragma once

#include <memory>

#include "comm_thread/comm_thread.h"
#include "comm_thread/communicator.h"
#include "comm_thread/compute_team.h"
#include "spmv/halo_plan.h"
#include "spmv/halo_vector.h"
#include "spmv/mode.h"
#include "spmv/multiplication.h"
#include "spmv/split_matrix.h"

namespace weft::spmv {

/// A distributed sparse matrix as a linear operator, applied in any mode.
///
/// Lifetime: `communicator`, `comm_thread` and `team` outlive it.
class SparseOperator {
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
  const HaloPlan& halo_plan() const { return halo_plan_; }
  const comm_thread::Communicator& communicator() const { return communicator_; }
  comm_thread::CommThread& comm_thread() const { return comm_thread_; }
  const comm_thread::ComputeTeam& team() const { return team_; }

  /// A vector to apply the operator to. Collective. Thread: the main thread, outside the team.
  std::unique_ptr<HaloVector> collective_make_vector();

  /// y = A·x; with `x_dot_y`, this thread's part of x·y is added to it.
  /// Shape: y: [row_count], 64-byte aligned.
  /// Thread: every thread of the team, after it wrote its rows of x. Collective.
  /// Throws comm_thread::MpiError.
  void multiply(const comm_thread::TeamThread& thread, Mode mode, HaloVector& x,
                std::span<double> y, perfmodel::PhaseTimer& timer,
                comm_thread::ExactAccumulator* x_dot_y = nullptr) const;

 private:
  SparseOperator(const comm_thread::Communicator& communicator,
                 comm_thread::CommThread& comm_thread, const comm_thread::ComputeTeam& team,
                 HaloPlan halo_plan, std::shared_ptr<const SplitMatrix> matrix);

  const comm_thread::Communicator& communicator_;
  comm_thread::CommThread& comm_thread_;
  const comm_thread::ComputeTeam& team_;
  HaloPlan halo_plan_;
  std::shared_ptr<const SplitMatrix> matrix_;
  int vectors_made_ = 0;  // the same on all ranks: tags
};

}  // namespace weft::spmv
