#pragma once

#include <memory>
#include <span>
#include <vector>

#include "library/include/weft/weft.hpp"
#include "spmv/modes/linear_operator.h"
#include "spmv/modes/local_rows.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/partition.h"

namespace weft::library {

/// An operator of the caller as methods see it: its interior part runs while the halo travels.
///
/// Sums of products are binned, so their bits do not depend on where the caller cuts the rows.
/// Lifetime: `communicator`, `comm_thread` and `team` outlive it.
class CallerOperator final : public spmv::LinearOperator, public spmv::LocalRows {
 public:
  /// Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError on every
  /// rank.
  CallerOperator(const comm_thread::Communicator& communicator,
                 comm_thread::CommThread& comm_thread, const comm_thread::ComputeTeam& team,
                 UserOperator user);

  const spmv::RowPartition& partition() const { return partition_; }

  const comm_thread::Communicator& communicator() const override { return communicator_; }
  comm_thread::CommThread& comm_thread() const override { return comm_thread_; }
  const comm_thread::ComputeTeam& team() const override { return team_; }
  std::size_t element_count() const override { return static_cast<std::size_t>(user_.row_count); }
  std::span<const spmv::Segment> segments(int thread) const override {
    return {&segments_[static_cast<std::size_t>(thread)], 1};
  }
  const spmv::LocalRows& local_rows() const override { return *this; }
  std::int64_t global_row_count() const override { return partition_.row_count(); }
  double collective_norm() const override { return norm_; }
  std::unique_ptr<spmv::Operand> collective_make_operand() override;
  void apply(const comm_thread::TeamThread& thread, spmv::Mode mode, spmv::Operand& x, double* y,
             perfmodel::PhaseTimer& timer, spmv::RowSum x_dot_y) const override;
  /// Throws comm_thread::InputError where the caller gives none.
  void copy_diagonal(std::span<double> diagonal) const override;
  std::int64_t global_row(std::size_t element) const override {
    return user_.first_row + static_cast<std::int64_t>(element);
  }

  void multiply_in_pieces(spmv::RowSet set, const comm_thread::TeamThread& thread, const double* x,
                          double* y, spmv::RowSum x_dot_y,
                          const std::function<void()>& pause) const override;

 private:
  double collective_estimate_norm();

  const comm_thread::Communicator& communicator_;
  comm_thread::CommThread& comm_thread_;
  const comm_thread::ComputeTeam& team_;
  UserOperator user_;
  spmv::RowPartition partition_;
  spmv::HaloPlan halo_plan_;
  std::vector<spmv::LocalIndex> thread_rows_;  // [thread_count + 1]
  std::vector<spmv::Segment> segments_;  // [thread_count]
  double norm_ = 0;
};

}  // namespace weft::library
