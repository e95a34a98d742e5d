#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/engine/all_reduce.h"
#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/sweep/sweeper.h"
#include "solver/tiles/linear_coarse_space.h"
#include "solver/tiles/tile_sweeper.h"

namespace weft::solver {

/// The tiles of a TileSweeper together with a coarse space, which carries over the whole grid at
/// once what tiles would hand on from one to the next; for synchronous iterations.
///
/// Every sweep corrects the current values by P·c, Pᵀ·A·P·c = Pᵀ·(b − A·x), and then solves the
/// tiles for what is left. The residuals' shares, each of which has one origin, travel by one
/// all-reduce, and every rank solves the small system: values have the same bits for any ranks and
/// threads.
class SyncTwoLevel final : public Sweeper {
 public:
  /// Factor of tiles' corrections after the first. Neighbours exchange errors that are constant on
  /// a tile and alternate from one to the next: a sweep multiplies them by nearly −1, and no
  /// function of the coarse space is like them. On 24×24 tiles of 32×32 points 29 iterations with
  /// it, 79 without.
  static constexpr double relaxation = 0.8;

  /// Collective. Thread: the main thread, outside the team. All outlive it.
  /// Throws comm_thread::InputError as LinearCoarseSpace.
  SyncTwoLevel(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
               TileSweeper& tiles);

  std::size_t unknown_count() const { return space_.unknown_count(); }
  /// Corrections that have been added.
  std::int64_t correction_count() const { return correction_count_; }

  const comm_thread::ComputeTeam& team() const override { return tiles_.team(); }
  std::span<const comm_thread::HaloNeighbour> neighbours() const override {
    return tiles_.neighbours();
  }
  void pack(const comm_thread::TeamThread& thread, SweepState state, std::size_t neighbour,
            std::span<double> out) const override {
    tiles_.pack(thread, state, neighbour, out);
  }
  void unpack(const comm_thread::TeamThread& thread, SweepState state, std::size_t neighbour,
              std::span<const double> in) override {
    tiles_.unpack(thread, state, neighbour, in);
  }
  /// Corrects the current values first. The coarse problem needs halos: nothing is `interior`.
  void sweep(const comm_thread::TeamThread& thread, SweepPart part,
             comm_thread::ExactAccumulator* residual_square) override;
  void finish_sweep() override { tiles_.finish_sweep(); }
  void add_residual(const comm_thread::TeamThread& thread, SweepState state,
                    comm_thread::ExactAccumulator& residual_square) override {
    tiles_.add_residual(thread, state, residual_square);
  }
  void record(const comm_thread::TeamThread& thread) override { tiles_.record(thread); }
  TileJudge* tile_judge() override { return &tiles_; }
  KeptState* kept_state() override { return tiles_.kept_state(); }

 private:
  void find_correction();

  TileSweeper& tiles_;
  comm_thread::CommThread& comm_thread_;
  comm_thread::Communicator communicator_;  // of the sum
  LinearCoarseSpace space_;
  std::vector<double> shares_;  // of this rank's tiles; 0 elsewhere
  std::vector<double> nodes_;  // Pᵀ·r
  std::vector<double> correction_;  // c
  comm_thread::AllReduce sum_;  // of shares
  std::int64_t correction_count_ = 0;
};

}  // namespace weft::solver
