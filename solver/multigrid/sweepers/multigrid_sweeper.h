#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "solver/checkpoint/packed_rows.h"
#include "solver/multigrid/additive_cycle.h"
#include "solver/multigrid/grid_cycle.h"
#include "solver/multigrid/sweepers/grid_values.h"
#include "solver/sweep/kept_state.h"
#include "solver/sweep/sweeper.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/modes/mode.h"
#include "spmv/sums/binned_sum.h"

namespace weft::solver {

/// A multigrid cycle a sweep, for synchronous iterations: x += relaxation·z, z the cycle for
/// b − A·x. The reference of AsyncMultigridSweeper.
///
/// The values, iterations and residuals have the same bits for any ranks, threads and modes.
/// A sweep is collective: the cycle has messages of its own.
class MultigridSweeper final : public Sweeper, public KeptState {
 public:
  enum class Cycle { additive, multiplicative };

  struct Options {
    Cycle cycle = Cycle::additive;
    int steps = 2;  // of the smoother before and after
    spmv::Mode mode = spmv::Mode::task;
  };

  /// The middle of the eigenvalues of a cycle with two steps times A, which lie from 0.8 to 1.
  static constexpr double relaxation = 1 / 0.9;

  /// Starts from 0. As GridValues. Collective.
  MultigridSweeper(spmv::StencilOperator& op, std::span<const double> b, const Options& options);

  /// ‖b − A·x‖² as it was last known, the same on all ranks: rounding of the next one follows from
  /// it. Thread: the primary one, not during a sweep.
  void set_square(double square) { bound_ = square; }

  const GridValues& values() const { return values_; }

  const comm_thread::ComputeTeam& team() const override { return values_.team(); }
  std::span<const comm_thread::HaloNeighbour> neighbours() const override {
    return values_.neighbours();
  }
  void pack(const comm_thread::TeamThread& thread, SweepState state, std::size_t neighbour,
            std::span<double> out) const override;
  void unpack(const comm_thread::TeamThread& thread, SweepState state, std::size_t neighbour,
              std::span<const double> in) override;
  void sweep(const comm_thread::TeamThread& thread, SweepPart part,
             comm_thread::ExactAccumulator* residual_square) override;
  void finish_sweep() override;
  void add_residual(const comm_thread::TeamThread& thread, SweepState state,
                    comm_thread::ExactAccumulator& residual_square) override;
  void record(const comm_thread::TeamThread& thread) override { values_.record(thread); }

  KeptState* kept_state() override { return this; }
  PackedRows rows() const override { return values_.rows(); }
  std::vector<double*> scalars() override { return {&bound_}; }
  void save(const comm_thread::TeamThread& thread, const PackedRows& rows, std::size_t vector,
            double* packed) override;
  void load(const comm_thread::TeamThread& thread, const PackedRows& rows, std::size_t vector,
            const double* packed, std::int64_t sweep) override;

 private:
  FinestResidual residual(const double* x) const;
  void make_new_values(const comm_thread::TeamThread& thread);

  GridValues values_;
  perfmodel::PhaseTimer timer_;
  std::optional<AdditiveCycle<float>> additive_;
  std::optional<GridCycle<float>> multiplicative_;
  double scale_ = 1;  // of the finest grid
  GridArray<float> z_;
  GridValues::Array new_values_;
  std::vector<spmv::CloseSum> squares_;  // [threads]
  double bound_;
};

}  // namespace weft::solver
