#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// SyncTwoLevel for asynchronous iterations: the sum travels while the tiles go on.
///
///     compute team      sweep │ sweep: shares of Pᵀ·r │ sweep │ sweep: + P·c │ sweep │ sweep:
///     shares comm. thread            │            └─── all-reduce ──────►│          │       │ └──
///     …
///
/// The sum, Pᵀ·b − (A·P)ᵀ·x, is made of whatever values each rank has. A rank begins the
/// next sum when it has added the last correction and has made as many sweeps since as it made
/// meanwhile, for they smooth what the correction leaves. Neighbours add a correction at different
/// times, so messages say how many the sender had added (its generation): the receiver adds the
/// last one to ghosts that lack it, and keeps a message that is ahead until it has caught up. So
/// ranks always sweep with values of one generation, and sum values of one.
/// Source: Glusa, Boman, Chow, Rajamanickam, Szyld 2020, "Scalable asynchronous domain
/// decomposition solvers"; the all-reduce takes the place of their coarse rank.
class AsyncTwoLevel final : public Sweeper, private TileJudge {
 public:
  /// As SyncTwoLevel::relaxation; threads solve one tile after the other, and few neighbours at the
  /// same time: on 24×24 tiles of 64×64 points, two ranks, 34 solves of each with 0.8, 29 with 0.9,
  /// 28 with 1.
  static constexpr double relaxation = 0.9;

  /// Collective. Thread: the main thread, outside the team. All outlive it.
  /// Throws comm_thread::InputError as LinearCoarseSpace.
  AsyncTwoLevel(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
                TileSweeper& tiles);

  std::size_t unknown_count() const { return space_.unknown_count(); }
  /// Corrections that this rank has added.
  std::int64_t correction_count() const { return generation_; }

  const comm_thread::ComputeTeam& team() const override { return tiles_.team(); }
  /// Those of the tiles, each message longer by its header.
  std::span<const comm_thread::HaloNeighbour> neighbours() const override { return neighbours_; }
  void pack(const comm_thread::TeamThread& thread, SweepState state, std::size_t neighbour,
            std::span<double> out) const override;
  void unpack(const comm_thread::TeamThread& thread, SweepState state, std::size_t neighbour,
              std::span<const double> in) override;
  /// Corrects the current values first, where a correction is due. The coarse problem needs halos:
  /// nothing is `interior`.
  void sweep(const comm_thread::TeamThread& thread, SweepPart part,
             comm_thread::ExactAccumulator* residual_square) override;
  void finish_sweep() override { tiles_.finish_sweep(); }
  void add_residual(const comm_thread::TeamThread& thread, SweepState state,
                    comm_thread::ExactAccumulator& residual_square) override {
    tiles_.add_residual(thread, state, residual_square);
  }
  void record(const comm_thread::TeamThread& thread) override { tiles_.record(thread); }
  TileJudge* tile_judge() override { return this; }
  KeptState* kept_state() override { return tiles_.kept_state(); }

 private:
  void judge(const comm_thread::TeamThread& thread) override { tiles_.judge(thread); }
  std::int64_t unconverged_count(int thread) const override {
    return tiles_.unconverged_count(thread);
  }
  void collective_settle(const comm_thread::TeamThread& thread) override;

  enum class Step { none, begin_sum, add_correction };

  /// A message that is ahead of this rank.
  struct Held {
    std::vector<double> message;
    bool is_held = false;
  };

  void correct(const comm_thread::TeamThread& thread);
  Step next_step();
  void begin_sum(bool is_valid);
  Step finish_sum();
  void add_correction(const comm_thread::TeamThread& thread);

  TileSweeper& tiles_;
  comm_thread::CommThread& comm_thread_;
  comm_thread::Communicator communicator_;  // of the sum
  comm_thread::Communicator settling_;
  LinearCoarseSpace space_;
  std::vector<comm_thread::HaloNeighbour> neighbours_;
  std::vector<Held> held_;  // one for each neighbour
  std::vector<std::vector<double>> source_;  // Pᵀ·b of each thread's tiles
  std::vector<std::vector<double>>
      nodes_;  // Pᵀ·r of each thread's tiles; [0] of all ranks in the end
  std::vector<double> correction_;  // c, added last
  comm_thread::AllReduce sum_;  // of nodes; then of how many ranks they are valid

  // The primary thread's; the others read them after a barrier.
  std::optional<comm_thread::Pending> pending_;
  bool is_summing_ = false;
  std::int64_t begun_ = 0;  // sums
  int sweeps_to_rest_ = 0;
  int sweeps_in_flight_ = 0;  // of the sum in progress
  Step step_ = Step::none;
  std::int64_t generation_ = 0;
};

}  // namespace weft::solver
