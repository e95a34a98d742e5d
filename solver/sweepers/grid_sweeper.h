#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/checkpoint/packed_rows.h"
#include "solver/sweep/kept_grid.h"
#include "solver/sweep/kept_state.h"
#include "solver/sweep/sweeper.h"
#include "spmv/grid/average_sweep.h"
#include "spmv/grid/diffusion_problem.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/grid/time_blocking.h"

namespace weft::solver {

/// One rank's box of the diffusion problem, matrix-free, with a halo of one or more points.
///
///     halo depth 2, a neighbour on the right:    own | halo
///     sweep 1 of 2 from one exchange             ■■■■ ■      the halo's inner layer is made, too
///     sweep 2                                    ■■■■
///
/// Where several sweeps are made from one halo they are blocked in time, if the box is large enough
/// (TimeBlocking). Values and residual sums have the same bits for any ranks, threads and blocking.
/// Memory: two arrays; a third from the first `record` on.
class GridSweeper final : public Sweeper, public KeptState {
 public:
  struct Options {
    int halo_depth = 1;
    bool has_time_blocking = true;
    /// Of one core: what the blocks of several sweeps are made for; 0: as the system says.
    std::size_t cache_bytes = 0;
  };

  /// Starts from DiffusionProblem::start_value. Collective. Thread: the main thread, outside the
  /// team. `team` outlives it. Throws comm_thread::InputError where a rank has fewer points than
  /// the halo is deep.
  GridSweeper(const comm_thread::Communicator& communicator, const comm_thread::ComputeTeam& team,
              const spmv::DiffusionProblem& problem, const spmv::GridPartition& partition,
              const Options& options);

  /// Makes part number `rank` of the partition, whoever has the others. Not collective.
  GridSweeper(int rank, const comm_thread::ComputeTeam& team, const spmv::DiffusionProblem& problem,
              const spmv::GridPartition& partition, const Options& options)
      : GridSweeper(rank, partition.neighbours(rank, options.halo_depth), team, problem, partition,
                    options) {}

  /// ‖b‖ of the problem without the lift, the same on all ranks.
  double source_norm() const { return source_norm_; }

  /// "time blocks of 8 sweeps, because …": which way sweeps are made and why.
  std::string sweep_method() const;

  const spmv::GridLayout& layout() const { return layout_; }
  /// The current values, laid out as `layout` says.
  std::span<const double> values() const { return arrays_[current_].span(); }

  const comm_thread::ComputeTeam& team() const override { return team_; }
  std::span<const comm_thread::HaloNeighbour> neighbours() const override { return exchanged_; }
  void pack(const comm_thread::TeamThread& thread, SweepState state, std::size_t neighbour,
            std::span<double> out) const override;
  void unpack(const comm_thread::TeamThread& thread, SweepState state, std::size_t neighbour,
              std::span<const double> in) override;
  void sweep(const comm_thread::TeamThread& thread, SweepPart part,
             comm_thread::ExactAccumulator* residual_square) override;
  void finish_sweep() override { current_ = 1 - current_; }
  void add_residual(const comm_thread::TeamThread& thread, SweepState state,
                    comm_thread::ExactAccumulator& residual_square) override;
  int sweeps_per_exchange() const override;
  void advance(const comm_thread::TeamThread& thread, int count) override;
  void record(const comm_thread::TeamThread& thread) override;

  KeptState* kept_state() override { return this; }
  PackedRows rows() const override { return pack_grid(layout_, domain_, team_.thread_count()); }
  void save(const comm_thread::TeamThread& thread, const PackedRows& rows, std::size_t vector,
            double* packed) override;
  void load(const comm_thread::TeamThread& thread, const PackedRows& rows, std::size_t vector,
            const double* packed, std::int64_t sweep) override;

 private:
  using Array = perfmodel::HugePageBuffer<double>;

  GridSweeper(int rank, std::vector<spmv::GridNeighbour> neighbours,
              const comm_thread::ComputeTeam& team, const spmv::DiffusionProblem& problem,
              const spmv::GridPartition& partition, const Options& options);
  void set_up_arrays(Array& array) const;
  const Array& array_of(SweepState state) const {
    return state == SweepState::current ? arrays_[current_] : recorded_;
  }
  std::vector<spmv::GridBox> parts(SweepPart part) const;
  /// `box` on the sides where there are neighbours `layers` points larger.
  spmv::GridBox extended(int layers) const;
  void copy_in(const comm_thread::TeamThread& thread, Array& array, const spmv::GridBox& box,
               std::span<const double> in) const;

  const comm_thread::ComputeTeam& team_;
  spmv::DiffusionProblem problem_;
  Options options_;
  spmv::GridBox domain_;
  spmv::GridLayout layout_;
  std::vector<spmv::GridNeighbour> neighbours_;
  std::vector<comm_thread::HaloNeighbour> exchanged_;  // the same, in doubles
  spmv::GridBox inner_;  // points that need no halo
  spmv::TimeBlocking time_blocking_;
  double source_norm_ = 0;
  std::array<Array, 2> arrays_;
  std::size_t current_ = 0;
  Array recorded_;
};

}  // namespace weft::solver
