#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/crew.h"
#include "comm_thread/engine/schedule.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/direct/cholmod_factor.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::solver::amg {

/// The direct solution on the coarsest level: right-hand sides come to rank 0, which solves once,
/// and solutions go back, in one schedule of two rounds.
///
///     ranks 0 1 2:   f | f | f  ──►  rank 0: e = A⁻¹·f  ──►  e | e | e
///
/// The primary thread runs all of it: there is no other work meanwhile. A matrix that is only
/// semidefinite, as without any boundary condition, is solved with a small shift of its diagonal.
/// Lifetime: `crew` outlives it. It cannot be moved.
class CoarsestLevel {
 public:
  /// `matrix`: of the level; `scale`: D^(-1/2) of this rank's rows, by which it is multiplied from
  /// both sides; rows whose scale is 0 have a one on the diagonal and nothing else.
  /// Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError, on
  /// every rank, where the matrix is not positive semidefinite.
  CoarsestLevel(const comm_thread::Crew& crew, const spmv::DistributedMatrix& matrix,
                std::span<const double> scale);
  CoarsestLevel(const CoarsestLevel&) = delete;
  CoarsestLevel& operator=(const CoarsestLevel&) = delete;

  /// Right-hand side of this rank's rows, set before a solve, and their solution. Shape: [own
  /// rows].
  std::vector<double>& values() { return values_; }

  /// Solves. Thread: the primary one. Collective. Throws comm_thread::MpiError.
  void collective_solve();

  /// An estimate of ‖A⁻¹‖. The same on all ranks.
  double inverse_norm() const { return inverse_norm_; }
  /// Bytes that this rank sends, and messages, for one solution.
  std::int64_t sent_bytes() const { return sent_bytes_; }
  int message_count() const { return message_count_; }

 private:
  void collective_factor(const spmv::DistributedMatrix& matrix, std::span<const double> scale);
  void build_schedule(const spmv::RowPartition& partition);
  void solve_whole();
  double estimate_inverse_norm();

  comm_thread::Crew crew_;
  std::vector<double> values_;
  std::vector<double> whole_;  // of all ranks, on rank 0
  std::unique_ptr<CholmodFactor> factor_;  // on rank 0
  std::unique_ptr<comm_thread::Schedule> schedule_;  // empty on one rank
  double inverse_norm_ = 0;
  std::int64_t sent_bytes_ = 0;
  int message_count_ = 0;
};

}  // namespace weft::solver::amg
