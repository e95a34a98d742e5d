#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/direct/cholmod_factor.h"
#include "solver/precondition/imported_rows.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "solver/sweep/sweeper.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/rows/halo_plan.h"

namespace weft::solver {

/// Restricted additive Schwarz as an iteration, for any symmetric positive definite sparse matrix,
/// in lock step or without waiting:
///
///     new x = x + Σ R̃_iᵀ·Ã_i⁻¹·R_i·(b − A·x)
///
/// with the subdomains of SchwarzPreconditioner, but all of a subdomain is on one rank: its rows of
/// A and b with the overlap, whoever owns them in the operator. So a sweep needs x only, one layer
/// further than the overlap, and neither residuals nor results travel. Rank r of P has subdomains
/// r·S/P to (r+1)·S/P, or those that METIS made of its rows; its rows are their cores.
///
///     6×6 tridiagonal, 2 ranks and subdomains, overlap 1
///     rank 0:   core 0 1 2   overlap 3   halo of x: 3 4      what it solves for: rows 0 to 3
///     rank 1:   core 3 4 5   overlap 2   halo of x: 1 2      what it keeps: its core
///
/// Values have the same bits for any ranks and threads where subdomains are consecutive rows, and
/// so have residuals: squares are summed core by core.
///
/// Bytes a sweep: 12 for each nonzero of the rows with the overlap, 24 for each of the factors.
/// `restricted` converges for M-matrices, in any order of updates.
/// Source: Frommer and Szyld 2001, "An algebraic convergence theory for restricted additive Schwarz
/// methods using weighted max norms".
class PieceSweeper final : public Sweeper {
 public:
  /// `kind`: not symmetric. A `subdomain_count` of 0 is one for about `automatic_rows` rows, and at
  /// least one for each rank.
  using Options = SchwarzPreconditioner::Options;
  using Kind = SchwarzPreconditioner::Kind;
  using Partition = SchwarzPreconditioner::Partition;

  /// Starts from x = 0. Imports rows and factors; `op` is not needed later but for its team, which
  /// outlives it. Shape: b: the operator's [row_count]. Collective. Thread: the main thread,
  /// outside the team. Throws comm_thread::InputError on every rank where options are out of range,
  /// and where a subdomain's matrix is not positive definite.
  PieceSweeper(spmv::SparseOperator& op, std::span<const double> b, const Options& options);

  /// Of all ranks.
  std::int64_t subdomain_count() const { return subdomain_count_; }
  /// Rows of the largest subdomain of any rank, with the overlap.
  std::int64_t largest_subdomain() const { return largest_subdomain_; }
  /// The number, from 0, of the first row of `solution`.
  spmv::GlobalIndex first_row() const { return first_row_; }
  /// The current values of this rank's cores. Shape: [row_count], which need not be the operator's.
  std::span<const double> solution() const {
    return std::span(vectors_[current_]).first(row_count_);
  }

  const comm_thread::ComputeTeam& team() const override { return team_; }
  std::span<const comm_thread::HaloNeighbour> neighbours() const override {
    return plan_.neighbours;
  }
  void pack(const comm_thread::TeamThread& thread, std::size_t neighbour,
            std::span<double> out) const override;
  void unpack(const comm_thread::TeamThread& thread, std::size_t neighbour,
              std::span<const double> in) override;
  void sweep(const comm_thread::TeamThread& thread, SweepPart part,
             comm_thread::ExactAccumulator* residual_square) override;
  void finish_sweep() override { current_ = 1 - current_; }
  void add_residual(const comm_thread::TeamThread& thread,
                    comm_thread::ExactAccumulator& residual_square) override;
  void advance(const comm_thread::TeamThread& thread, int count) override;
  void record(const comm_thread::TeamThread& thread) override;
  void pack_record(const comm_thread::TeamThread& thread, std::size_t neighbour,
                   std::span<double> out) const override;
  void add_residual_of_record(const comm_thread::TeamThread& thread, std::span<const double> halo,
                              comm_thread::ExactAccumulator& residual_square) override;

 private:
  using Vector = std::vector<double>;  // own rows, then the halo

  struct Part {
    std::vector<std::size_t> core;  // its rows, among all of the subdomain
    std::vector<std::size_t> core_places;  // of the same in a vector
    std::vector<std::size_t> row_begin;  // [rows + 1]
    std::vector<std::int32_t> places;  // of the columns in a vector
    std::vector<double> values;
    std::vector<double> b;
    std::vector<double> residual;
    std::unique_ptr<CholmodFactor> factor;
    bool needs_halo = false;
  };

  std::vector<OverlappingRows> collective_cut(const spmv::DistributedMatrix& matrix,
                                              const Options& options);
  void collective_plan_halo(const std::vector<OverlappingRows>& subdomains,
                            const std::vector<WholeRows>& rows, spmv::RowPartition partition,
                            int rank);
  void collective_fetch_source(spmv::SparseOperator& op, std::span<const double> b,
                               const std::vector<OverlappingRows>& subdomains);
  void collective_factor(const std::vector<LowerTriangle>& matrices);
  std::size_t place_of(spmv::GlobalIndex row) const;
  void copy_out(const Vector& x, const comm_thread::TeamThread& thread, std::size_t neighbour,
                std::span<double> out) const;
  static double residual_of_row(const Part& part, std::size_t row, const Vector& x);
  void add_core_squares(const comm_thread::TeamThread& thread, const Vector& x,
                        comm_thread::ExactAccumulator& residual_square) const;

  comm_thread::Communicator communicator_;
  const comm_thread::ComputeTeam& team_;
  std::int64_t subdomain_count_ = 0;
  std::int64_t largest_subdomain_ = 0;
  spmv::GlobalIndex first_row_ = 0;
  std::size_t row_count_ = 0;
  std::vector<spmv::GlobalIndex> halo_rows_;  // ascending
  spmv::HaloPlan plan_;
  std::vector<Part> parts_;
  std::array<Vector, 2> vectors_;
  std::size_t current_ = 0;
  Vector recorded_;
};

}  // namespace weft::solver
