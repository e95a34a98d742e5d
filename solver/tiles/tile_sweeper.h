#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/checkpoint/packed_rows.h"
#include "solver/sweep/kept_state.h"
#include "solver/sweep/sweeper.h"
#include "solver/tiles/box_solver.h"
#include "solver/tiles/box_solver_kind.h"
#include "solver/tiles/change.h"
#include "solver/tiles/inside.h"
#include "solver/tiles/linear_coarse_space.h"
#include "solver/tiles/schwarz_problem.h"
#include "solver/tiles/tile_box.h"
#include "solver/tiles/tile_halo.h"
#include "solver/tiles/tile_layout.h"
#include "solver/tiles/tile_partition.h"

namespace weft::solver {

/// One rank's tiles of a SchwarzProblem. A sweep solves each on its own points and the overlap,
/// from what its neighbours had before the sweep, and keeps its own points (restricted additive).
///
///     a tile in memory, overlap 1      g g g g g g g     ghosts: what the neighbours have, as deep
///                                      g g g g g g g     as the overlap and one point more; those
///                                      g g o o o g g     of other ranks come by `unpack`, those of
///                                      g g o o o g g     this rank are copied by the sweep
///                                      g g o o o g g
///                                      g g g g g g g
///                                      g g g g g g g
///
/// A tile has converged when ‖b − A·x‖ < tolerance·‖b‖ on its own points; all tiles together say
/// when the iteration ends. Values and residuals have the same bits for any ranks and threads: a
/// tile is solved alone, and its squares are summed in one order. Tiles with equal matrices share
/// one solver. Threads have fixed tiles, dealt in turn, those that need other ranks first.
///
/// The residual is also what to solve for. After the first solution of a tile, which is not
/// relaxed, it is 0 to rounding but for a frame (TileBox::frame), and only that is formed, 7 times
/// of 8. Nobody needs the new values inside then, only those along the edges (TileBox::edges): if
/// the solver gains by that, those inside are computed when all are needed (TileInside). Bytes
/// a point and sweep besides the solver: 40 where all are computed. Memory: 3 values a point; a
/// fourth from the first `record` on. Source: Yamazaki et al. 2019, section 4.
class TileSweeper final : public Sweeper, public TileJudge, public KeptState {
 public:
  /// The tiles that a sweep solves. Where it solves one after the other, each thread goes forwards
  /// and backwards in turn, from the newest values of this rank's other tiles (multiplicative, as
  /// far as tiles are not solved at the same time): for asynchronous iterations, as the bits then
  /// depend on ranks and threads; only whole sweeps, each finished; residuals are those of tiles as
  /// last computed, of one that the sweep solves before.
  enum class Order {
    at_once,  // all, from the values before the sweep (additive)
    /// One after the other, those with most to gain: at least 0.6 times as much change (TileChange)
    /// as any other of the thread when the sweep begins.
    most_changed,
    quarters,  // one after the other, a quarter of the tiles in each sweep
  };

  struct Options {
    double tolerance = 1e-7;  // of each tile
    BoxSolverKind local_solver = BoxSolverKind::cholmod;
    Order order = Order::at_once;
    /// Factor of a tile's corrections after the first: SyncTwoLevel::relaxation or
    /// AsyncTwoLevel::relaxation with a coarse space.
    double relaxation = 1;
  };

  /// Starts from x = 0. `rank`: this one among those that share the problem. Not collective.
  /// Thread: the main thread, outside the team. `team` outlives it.
  /// Throws comm_thread::InputError where the problem is none, and where a matrix of this rank's
  /// tiles is not positive definite.
  TileSweeper(const comm_thread::ComputeTeam& team, const SchwarzProblem& problem,
              const TilePartition& partition, int rank, const Options& options);

  const SchwarzProblem& problem() const { return problem_; }
  /// The tiles of this rank, in the order of their slots.
  std::span<const int> tiles() const { return tile_numbers_; }
  /// The current value at a point of the tile in `slot`, after `complete` or `add_residual`.
  double value(std::size_t slot, int x, int y) const {
    return values_of(slot)[layout_.index(x, y)];
  }
  /// Brings the values inside of this thread's tiles up to date. Thread: every thread of the team.
  void complete(const comm_thread::TeamThread& thread);
  /// The same of those that the next sweep solves for residuals on all points: before a correction
  /// is added, so that values have the same bits whether or not they have been completed by others.
  void complete_whole(const comm_thread::TeamThread& thread);
  /// Number of different matrices of this rank's tiles.
  int solver_count() const;

  /// Time that `thread` has spent in solvers so far. Thread: that one, or outside the team.
  double solve_seconds(int thread) const {
    return threads_[static_cast<std::size_t>(thread)].solve_seconds;
  }
  /// Number of solves of this rank's tiles in sweeps. Thread: outside the team.
  std::int64_t solve_count() const;
  /// The largest ‖b − A·x‖/‖b‖ of a tile of this rank, as last computed. Thread: any, with a team
  /// barrier after the residuals.
  double worst_tile_residual() const;

  /// The share of this thread's tiles in Pᵀ·(b − A·x), from the current values.
  /// Shape: shares: [share_count], tile by tile. Thread: every thread of the team.
  void restrict_residual(const comm_thread::TeamThread& thread, const LinearCoarseSpace& space,
                         std::span<double> shares);
  /// nodes = Pᵀ·b of this thread's tiles.
  void restrict_source(const comm_thread::TeamThread& thread, const LinearCoarseSpace& space,
                       std::span<double> nodes);
  /// nodes -= (A·P)ᵀ·x of this thread's tiles, from their own current values alone.
  void subtract_product(const comm_thread::TeamThread& thread, const LinearCoarseSpace& space,
                        std::span<double> nodes) const;
  /// Current values and ghosts += P·c. Thread: every thread of the team. `space` outlives the next
  /// `complete`.
  void add(const comm_thread::TeamThread& thread, const LinearCoarseSpace& space,
           std::span<const double> c);
  /// Ghosts that come from neighbour number `neighbour` += P·c. Thread: every thread of the team;
  /// each adds to those that it unpacks.
  void add_to_ghosts(const comm_thread::TeamThread& thread, std::size_t neighbour,
                     const LinearCoarseSpace& space, std::span<const double> c);

  const comm_thread::ComputeTeam& team() const override { return team_; }
  std::span<const comm_thread::HaloNeighbour> neighbours() const override {
    return halo_.neighbours();
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
  void record(const comm_thread::TeamThread& thread) override;
  TileJudge* tile_judge() override { return this; }
  void judge(const comm_thread::TeamThread& thread) override;
  std::int64_t unconverged_count(int thread) const override;

  KeptState* kept_state() override { return this; }
  PackedRows rows() const override;
  /// Tiles form their residuals on all points then, from values that have been completed.
  int sweeps_between() const override;
  void save(const comm_thread::TeamThread& thread, const PackedRows& rows, std::size_t vector,
            double* packed) override;
  /// Before the first sweep.
  void load(const comm_thread::TeamThread& thread, const PackedRows& rows, std::size_t vector,
            const double* packed, std::int64_t sweep) override;

 private:
  using Array = perfmodel::HugePageBuffer<double>;
  /// Values of a tile: those before the sweep in progress; the newest; the last `record`.
  enum class Values { current, newest, recorded };
  static Values values_in(SweepState state) {
    return state == SweepState::current ? Values::current : Values::recorded;
  }

  /// One thread's own data: its slots, [begin, surrounded) need other ranks, and
  /// [surrounded, end) do not.
  struct alignas(64) ThreadState {
    std::size_t begin = 0, surrounded = 0, end = 0;
    std::vector<std::size_t> in_rows;  // its slots by the place of their tiles
    std::size_t doubtful = 0;  // the slot to judge first
    std::vector<double> residual;  // on one box
    double solve_seconds = 0;
  };
  struct Tile {
    TileBox box;
    BoxSolver* solver = nullptr;
    double source_square = 0;  // of b on its own points
    double residual_square = 0;  // as last computed
    std::int64_t solve_count = 0;
  };

  std::vector<int> deal_tiles(const TilePartition& partition, int rank);
  void make_solvers();
  void set_up(const comm_thread::TeamThread& thread);
  /// Not for what is recorded.
  std::uint8_t array_of(std::size_t slot, Values which) const;
  /// Points inside of a tile are there only after `complete`.
  double* values_of(std::size_t slot, Values which = Values::current);
  const double* values_of(std::size_t slot, Values which = Values::current) const {
    return const_cast<TileSweeper*>(this)->values_of(slot, which);
  }
  double* values_of(std::size_t slot, std::size_t array) {
    return arrays_[array].data() + slot * layout_.element_count();
  }
  std::span<double> source_of(std::size_t slot) {
    return source_.span().subspan(slot * source_stride_, tiles_[slot].box.matrix(0).point_count());
  }
  void refresh_local_ghosts(std::size_t slot, Values which);
  std::span<const double> solve(int thread, const Tile& tile, std::span<double> residual,
                                const BoxFrame& given, const BoxFrame& wanted);
  void complete(const comm_thread::TeamThread& thread, std::size_t slot, Values which);
  void solve_tile(const comm_thread::TeamThread& thread, std::size_t slot, Values from);
  void sweep_at_once(const comm_thread::TeamThread& thread, SweepPart part,
                     comm_thread::ExactAccumulator* residual_square);
  void sweep_most_changed(const comm_thread::TeamThread& thread,
                          comm_thread::ExactAccumulator* residual_square);
  void sweep_quarter(const comm_thread::TeamThread& thread,
                     comm_thread::ExactAccumulator* residual_square);
  template <class Choice>
  void sweep_in_turn(const comm_thread::TeamThread& thread, bool is_forward,
                     const Choice& is_chosen, comm_thread::ExactAccumulator* residual_square);
  void copy_in(const comm_thread::TeamThread& thread, Array& array, std::size_t neighbour,
               std::span<const double> in) const;
  BoxFrame frame_of(const Tile& tile) const;
  /// Brings the ghosts of a tile up to date, as far as they are on this rank, and forms its
  /// residual.
  std::span<double> form_residual(ThreadState& state, std::size_t slot, Values which,
                                  const BoxFrame& frame);
  bool is_converged(const Tile& tile) const;

  const comm_thread::ComputeTeam& team_;
  SchwarzProblem problem_;
  Options options_;
  TileLayout layout_;
  std::vector<ThreadState> threads_;
  std::vector<int> tile_numbers_;  // by slot
  TileHalo halo_;
  std::vector<Tile> tiles_;  // by slot
  std::array<std::unique_ptr<BoxSolver>, 16> solvers_;  // by TileBox::kind
  std::size_t source_stride_;
  Array source_;  // b on the box of each tile
  std::array<Array, 2> arrays_;
  std::uint64_t sweep_ = 1;  // the one in progress, or the next
  std::vector<std::uint8_t> current_;  // by slot: in which array
  /// By slot: where the newest values are. Release after they are written, acquire before another
  /// thread reads them in the same sweep, in which they change once at most.
  std::vector<std::atomic<std::uint8_t>> newest_;
  TileInside inside_;
  TileChange change_;
  Array recorded_;
};

}  // namespace weft::solver
