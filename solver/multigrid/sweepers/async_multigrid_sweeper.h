#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/channels/channel_set.h"
#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/checkpoint/packed_rows.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/passes/finest_residual.h"
#include "solver/multigrid/passes/grid_pass.h"
#include "solver/multigrid/passes/pass_memory.h"
#include "solver/multigrid/passes/tiles.h"
#include "solver/multigrid/sweepers/coarse_client.h"
#include "solver/multigrid/sweepers/coarse_messages.h"
#include "solver/multigrid/sweepers/coarse_parts.h"
#include "solver/multigrid/sweepers/coarse_server.h"
#include "solver/multigrid/sweepers/gathered_messages.h"
#include "solver/multigrid/sweepers/grid_values.h"
#include "solver/multigrid/sweepers/own_restriction.h"
#include "solver/sweep/kept_state.h"
#include "solver/sweep/sweeper.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/sums/binned_sum.h"

namespace weft::solver {

/// Multigrid for asynchronous iterations: every rank smooths its box of the finest grid and of
/// coarser ones from the newest that it knows of its neighbours. Rank 0 solves on the gathered
/// grid, a small one, and answers with corrections at its own pace.
///
///     rank r: x += P·e, x' = x + x̂ by smoothing; x' and shares of coarse right-hand sides to the
///             neighbours, the share of the gathered grid to rank 0; and so on, when the answer has
///             come: interpolation and smoothing from grid to grid, which gives e
///     rank 0: the newest shares of all, V-cycle, its solution to those who have asked
///
/// No rank waits for another, but a rank has nothing to do between its question and the answer.
/// A correction answers one state x' of a rank's values and is added to that state, once
/// (CoarseMessages). Shares add up to the residual of a vector from whatever states they are
/// (OwnRestriction). So, as long as a cycle is a contraction in the maximum norm, the iteration
/// converges for any order of messages (Chazan and Miranker 1969).
///
/// An answer also tells a rank how its neighbours will be corrected: x' of a neighbour, which was
/// sent before the answer, and P·e are the neighbour's next values, so no rank smooths beside
/// values that are one correction behind. Without that two ranks took 20 to 360 corrections where
/// 12 do.
///
/// Memory of a rank depends on its own box, but for rank 0, which has a share of the gathered grid
/// of every rank and a channel to it.
/// Source: Wolfson-Pou and Chow 2019, "Asynchronous multigrid methods"; gathering, questions and
/// answers are ours.
class AsyncMultigridSweeper final : public Sweeper, public KeptState {
 public:
  struct Options {
    int steps = 4;  // of the smoother on the finest grid
    int coarse_steps = 6;  // on the others, after; on those of rank 0, before and after
    comm_thread::TransportChoice transport{};  // of questions and answers
  };

  /// Starts from 0. Collective, and so is destruction. As GridValues and ChannelSet.
  AsyncMultigridSweeper(spmv::StencilOperator& op, std::span<const double> b,
                        const Options& options);

  const GridValues& values() const { return values_; }
  /// Corrections that this rank has added.
  std::int64_t correction_count() const { return version_; }
  /// Points of the finest grid that rank 0 solves on.
  std::int64_t gathered_points() const { return levels_[gathered_].point_count(); }

  const comm_thread::ComputeTeam& team() const override { return values_.team(); }
  /// Messages are longer by a header.
  std::span<const comm_thread::HaloNeighbour> neighbours() const override { return neighbours_; }
  void pack(const comm_thread::TeamThread& thread, SweepState state, std::size_t neighbour,
            std::span<double> out) const override;
  void unpack(const comm_thread::TeamThread& thread, SweepState state, std::size_t neighbour,
              std::span<const double> in) override;
  /// Takes two sweeps for a correction: one adds it and smooths; the other, after halos have been
  /// sent, asks and looks for the answer, and is repeated until one has come. So an answer comes
  /// after the halos that belong to it. Squares are those of the values before smoothing.
  void sweep(const comm_thread::TeamThread& thread, SweepPart part,
             comm_thread::ExactAccumulator* residual_square) override;
  void finish_sweep() override {}
  bool has_changed() const override { return has_changed_; }
  void add_residual(const comm_thread::TeamThread& thread, SweepState state,
                    comm_thread::ExactAccumulator& residual_square) override;
  void record(const comm_thread::TeamThread& thread) override;
  void settle(const comm_thread::TeamThread& thread) override;

  KeptState* kept_state() override { return this; }
  PackedRows rows() const override { return values_.rows(); }
  /// Smoothed values.
  void save(const comm_thread::TeamThread& thread, const PackedRows& rows, std::size_t vector,
            double* packed) override;
  /// Before the first sweep.
  void load(const comm_thread::TeamThread& thread, const PackedRows& rows, std::size_t vector,
            const double* packed, std::int64_t sweep) override;

 private:
  GatheredMessages gathered_messages(const spmv::GridPartition& partition) const {
    return {levels_, partition, options_.steps, options_.coarse_steps, gathered_};
  }
  enum class Phase { smoothing, asking, correcting };

  /// What has come from a neighbour.
  struct Halo {
    /// A message but its header: the halo, and shares of coarse grids.
    struct Message {
      std::vector<double> values;
      std::int64_t version = -1;  // of the neighbour, then
    };
    const Message& newest() const { return messages[newest_index]; }
    Message& next() { return messages[1 - newest_index]; }
    /// The one that an answer is for, if it has been kept, else the newest.
    const Message& answered() const {
      const Message& before = messages[1 - newest_index];
      return before.version == answered_version ? before : newest();
    }

    std::array<Message, 2> messages;  // the last two
    std::size_t newest_index = 0;
    std::size_t count = 0;  // of the halo's values
    bool has_next = false;  // has come since the last sweep
    std::int64_t answered_version = -1;  // of the neighbour, in the answer added last
  };

  FinestResidual residual(const double* x) const;
  /// About the square of the own part of the residual.
  double bound() const;
  /// Adds a thread's square to `total`. Uses the team's barrier.
  void flush(const comm_thread::TeamThread& thread, spmv::CloseSum& square,
             comm_thread::ExactAccumulator& total);
  void ask(const comm_thread::TeamThread& thread);
  void smooth(const comm_thread::TeamThread& thread,
              comm_thread::ExactAccumulator* residual_square);
  void take_messages(const comm_thread::TeamThread& thread);
  bool waits_for_messages();
  void read_answer(std::span<const double> answer);
  void correct(const comm_thread::TeamThread& thread);
  template <class Place>
  void copy_smoothed(const comm_thread::TeamThread& thread, const spmv::GridBox& box,
                     const Place& place_of) const;
  void correct_halo(const comm_thread::TeamThread& thread, std::size_t neighbour);
  /// Adds x̂ + P·e, or P·e alone, to this thread's rows of `box`.
  void add_correction(const comm_thread::TeamThread& thread, const spmv::GridBox& box,
                      const GridArray<float>& smoothed);

  GridValues values_;
  comm_thread::CommThread& comm_thread_;
  std::vector<GridLevel> levels_;
  Options options_;
  std::size_t gathered_;  // the first grid that rank 0 solves
  CoarseParts parts_;
  std::vector<comm_thread::HaloNeighbour> neighbours_;
  CoarseMessages messages_;
  comm_thread::Communicator communicator_;  // of questions and answers
  comm_thread::ChannelSet channels_;  // to rank 0; on rank 0, to all others
  std::unique_ptr<CoarseServer> server_;  // on rank 0
  std::unique_ptr<CoarseClient> client_;  // on all others
  DownPass<float> down_;
  PassTiles tiles_;
  GridArray<float> smoothed_;  // x̂: what smoothing adds to x, together with the next correction
  GridArray<float> nothing_;  // zeros in its place
  GridArray<float> restricted_;
  OwnRestriction restriction_;
  std::vector<Halo> halos_;  // one for each neighbour
  std::vector<PassMemory<float>> memories_;  // [threads]
  std::vector<spmv::CloseSum> squares_;  // [threads]
  std::vector<double> known_squares_;  // [threads]: of the last residual, or more

  // Of the primary thread; the others read them after a barrier.
  Phase phase_ = Phase::smoothing;
  bool has_smoothed_ = false;
  bool is_waiting_ = false;
  int wait_count_ = 0;
  bool has_changed_ = true;
  std::int64_t version_ = 0;
};

}  // namespace weft::solver
