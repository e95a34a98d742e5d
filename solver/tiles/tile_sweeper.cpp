#include "solver/tiles/tile_sweeper.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "perfmodel/stopwatch.h"
#include "solver/report/relative_residual.h"

namespace weft::solver {
namespace {

using comm_thread::ExactAccumulator;
using comm_thread::TeamThread;

/// The part of the largest change of a tile that another must have if it is to be solved, too. See
/// docs/notes/schwarz.md.
constexpr double least_change = 0.6;
/// In how many sweeps relaxed tiles are solved. Corrections of a coarse space come as soon as they
/// have travelled for one sweep and rested for another: 24×24 tiles of 64×64 points take 46 solves
/// each with 1 or 39, 34, 34, 33 and 34 with 2, 3, 4, 6 and 8 (medians of three on two ranks).
constexpr std::size_t relaxed_sweeps = 4;
/// Of so many solves of a tile one is for the residual on all points, not only for that of the
/// frame: rounding errors of the others stay where they arise. 42×42 tiles of 64×64 points on two
/// ranks: 426 iterations in 12.7 s with 4, 426 in 10.6 s with 8, 425 in 9.8 s with 16, because the
/// residual is 1 % smaller; 426 in 9.4 s with 32, 425 in 8.4 s with one in 1000.
constexpr std::int64_t solves_per_whole = 8;

SchwarzProblem checked(const SchwarzProblem& problem) {
  check(problem);
  return problem;
}

}  // namespace

TileSweeper::TileSweeper(const comm_thread::ComputeTeam& team, const SchwarzProblem& problem,
                         const TilePartition& partition, int rank, const Options& options)
    : team_(team),
      problem_(checked(problem)),
      options_(options),
      layout_(problem.points_per_side, problem.overlap + 1),
      threads_(static_cast<std::size_t>(team.thread_count())),
      tile_numbers_(deal_tiles(partition, rank)),
      halo_(partition, layout_, rank, tile_numbers_),
      tiles_(tile_numbers_.size()),
      current_(tile_numbers_.size()),
      newest_(tile_numbers_.size()),
      inside_(problem, layout_, tiles_.size()),
      change_(problem, layout_, tile_numbers_.size()) {
  const auto box_side = static_cast<std::size_t>(problem.points_per_side) +
                        2 * static_cast<std::size_t>(problem.overlap);
  source_stride_ = (box_side * box_side + 7) / 8 * 8;
  source_ = Array(tiles_.size() * source_stride_);
  for (Array& array : arrays_) array = Array(tiles_.size() * layout_.element_count());
  make_solvers();
  team_.run([this](const TeamThread& thread) { set_up(thread); });
}

/// Tiles in turn to the threads, those that need other ranks first, so that every thread has as
/// many of each kind as any other, but for one.
std::vector<int> TileSweeper::deal_tiles(const TilePartition& partition, int rank) {
  const auto has_others_around = [&](int tile) { return !is_surrounded(partition, tile); };
  const std::vector<int> all = partition.tiles_of(rank);
  std::vector<int> tiles;
  std::ranges::copy_if(all, std::back_inserter(tiles), has_others_around);
  const std::size_t outer_count = tiles.size();
  std::ranges::remove_copy_if(all, std::back_inserter(tiles), has_others_around);
  std::vector<int> by_thread;
  for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
    ThreadState& state = threads_[thread];
    state.begin = state.surrounded = by_thread.size();
    for (std::size_t i = thread; i < tiles.size(); i += threads_.size()) {
      by_thread.push_back(tiles[i]);
      state.surrounded += i < outer_count;
    }
    state.end = by_thread.size();
    state.doubtful = state.begin;
    for (std::size_t slot = state.begin; slot < state.end; ++slot) state.in_rows.push_back(slot);
    std::ranges::sort(state.in_rows, {}, [&](std::size_t slot) { return by_thread[slot]; });
  }
  return by_thread;
}

void TileSweeper::make_solvers() {
  const int per_side = problem_.tiles_per_side;
  for (std::size_t slot = 0; slot < tiles_.size(); ++slot) {
    Tile& tile = tiles_[slot];
    const int number = tile_numbers_[slot];
    tile.box = TileBox::of_tile(per_side, problem_.points_per_side, problem_.overlap,
                                number % per_side, number / per_side);
    inside_.set_tile(slot, number, tile.box);
    std::unique_ptr<BoxSolver>& solver = solvers_[static_cast<std::size_t>(tile.box.kind())];
    if (!solver)
      solver = make_box_solver(options_.local_solver, tile.box.matrix(problem_.beta()),
                               team_.thread_count());
    tile.solver = solver.get();
  }
}

/// Every thread touches its own pages first, and solves once, so that no solver allocates later.
void TileSweeper::set_up(const TeamThread& thread) {
  ThreadState& state = threads_[static_cast<std::size_t>(thread.index)];
  state.residual.resize(source_stride_);
  const int points = problem_.points_per_side;
  for (std::size_t slot = state.begin; slot < state.end; ++slot) {
    Tile& tile = tiles_[slot];
    const int number = tile_numbers_[slot];
    const spmv::GlobalIndex x_own = spmv::GlobalIndex{number % problem_.tiles_per_side} * points;
    const spmv::GlobalIndex y_own = spmv::GlobalIndex{number / problem_.tiles_per_side} * points;
    const TileArea& area = tile.box.area;
    double* out = source_of(slot).data();
    for (int y = area.y_begin; y < area.y_end; ++y)
      for (int x = area.x_begin; x < area.x_end; ++x)
        *out++ = problem_.source(x_own + x, y_own + y);
    for (const std::size_t array : {0U, 1U})
      std::fill_n(values_of(slot, array), layout_.element_count(), 0.0);
    form_residual(state, slot, Values::current, tile.box.whole());  // at x = 0 it is b
    tile.source_square = tile.residual_square;
  }
  for (const auto& solver : solvers_) {
    if (!solver) continue;
    const auto tile = std::ranges::find(tiles_, solver.get(), &Tile::solver);
    const std::size_t size = tile->box.matrix(0).point_count();
    std::fill_n(state.residual.begin(), size, 0.0);
    solver->solve(thread.index, std::span(state.residual).first(size), tile->box.whole(),
                  tile->box.whole());
  }
}

int TileSweeper::solver_count() const {
  return static_cast<int>(
      std::ranges::count_if(solvers_, [](const auto& solver) { return solver != nullptr; }));
}

std::uint8_t TileSweeper::array_of(std::size_t slot, Values which) const {
  return which == Values::current ? current_[slot] : newest_[slot].load(std::memory_order_acquire);
}

double* TileSweeper::values_of(std::size_t slot, Values which) {
  if (which == Values::recorded) return recorded_.data() + slot * layout_.element_count();
  return values_of(slot, std::size_t{array_of(slot, which)});
}

void TileSweeper::finish_sweep() {
  for (std::size_t slot = 0; slot < current_.size(); ++slot)
    current_[slot] = newest_[slot].load(std::memory_order_relaxed);
  ++sweep_;
}

void TileSweeper::refresh_local_ghosts(std::size_t slot, Values which) {
  double* const values = values_of(slot, which);
  for (const TileHalo::LocalStrip& strip : halo_.local_strips(static_cast<int>(slot))) {
    const double* const from = values_of(static_cast<std::size_t>(strip.source_slot), which) +
                               layout_.index(strip.source_area.x_begin, strip.source_area.y_begin);
    double* const to = values + layout_.index(strip.area.x_begin, strip.area.y_begin);
    for (std::ptrdiff_t y = 0; y < strip.area.height(); ++y)
      copy_row(from + y * layout_.row_stride(), strip.area.width(), to + y * layout_.row_stride());
  }
}

bool TileSweeper::is_converged(const Tile& tile) const {
  const double scale = tile.source_square > 0 ? tile.source_square : 1;
  return tile.residual_square < options_.tolerance * options_.tolerance * scale ||
         tile.residual_square == 0;
}

std::span<double> TileSweeper::form_residual(ThreadState& state, std::size_t slot, Values which,
                                             const BoxFrame& frame) {
  refresh_local_ghosts(slot, which);
  Tile& tile = tiles_[slot];
  const std::span<const double> source = source_of(slot);
  const std::span<double> residual = std::span(state.residual).first(source.size());
  tile.residual_square =
      solver::form_residual(layout_, tile.box, values_of(slot, which), source, frame, residual);
  return residual;
}

/// Place and time of a tile's residual: once it has been solved, what it and its neighbours
/// disagree about is all that is left.
BoxFrame TileSweeper::frame_of(const Tile& tile) const {
  return tile.solve_count == 0 ? tile.box.whole() : tile.box.frame(problem_.overlap);
}

std::span<const double> TileSweeper::solve(int thread, const Tile& tile, std::span<double> residual,
                                           const BoxFrame& given, const BoxFrame& wanted) {
  const double begin = perfmodel::seconds_now();
  const std::span<const double> solution = tile.solver->solve(thread, residual, given, wanted);
  threads_[static_cast<std::size_t>(thread)].solve_seconds += perfmodel::seconds_now() - begin;
  return solution;
}

void TileSweeper::complete(const TeamThread& thread, std::size_t slot, Values which) {
  const Tile& tile = tiles_[slot];
  const std::span<double> room =
      std::span(threads_[static_cast<std::size_t>(thread.index)].residual)
          .first(source_of(slot).size());
  inside_.complete(slot, sweep_, {values_of(slot, 0U), values_of(slot, 1U)}, array_of(slot, which),
                   room, [&](std::span<double> r) {
                     return solve(thread.index, tile, r, tile.box.frame(problem_.overlap),
                                  tile.box.whole());
                   });
}

void TileSweeper::complete(const TeamThread& thread) {
  const ThreadState& state = threads_[static_cast<std::size_t>(thread.index)];
  for (std::size_t slot = state.begin; slot < state.end; ++slot)
    complete(thread, slot, Values::current);
}

void TileSweeper::complete_whole(const TeamThread& thread) {
  const ThreadState& state = threads_[static_cast<std::size_t>(thread.index)];
  for (std::size_t slot = state.begin; slot < state.end; ++slot)
    if (tiles_[slot].solve_count % solves_per_whole == 0) complete(thread, slot, Values::current);
}

void TileSweeper::solve_tile(const TeamThread& thread, std::size_t slot, Values from) {
  ThreadState& state = threads_[static_cast<std::size_t>(thread.index)];
  Tile& tile = tiles_[slot];
  const bool is_whole = tile.solve_count % solves_per_whole == 0;
  const BoxFrame edges = tile.box.edges(problem_.overlap);
  const bool is_deferred = !is_whole && tile.solver->gains_by(edges);
  const BoxFrame given = is_whole ? tile.box.whole() : tile.box.frame(problem_.overlap);
  const BoxFrame wanted = is_deferred ? edges : tile.box.whole();
  if (!is_deferred) complete(thread, slot, from);
  const std::span<double> residual = form_residual(state, slot, from, given);
  // The first solution is not relaxed, or its equations would not be satisfied.
  const double relaxation = tile.solve_count == 0 ? 1 : options_.relaxation;
  if (is_deferred) inside_.defer(slot, sweep_, relaxation, residual);
  ++tile.solve_count;
  const std::span<const double> correction = solve(thread.index, tile, residual, given, wanted);
  const auto next = static_cast<std::uint8_t>(1 - current_[slot]);
  add_correction(layout_, tile.box, values_of(slot), relaxation, correction, wanted,
                 values_of(slot, std::size_t{next}));
  if (!is_deferred) inside_.renew(slot, sweep_, next);
  newest_[slot].store(next, std::memory_order_release);
  if (options_.order == Order::most_changed)
    change_.tell(tile.box, correction, halo_.local_strips(static_cast<int>(slot)));
}

void TileSweeper::sweep(const TeamThread& thread, SweepPart part,
                        ExactAccumulator* residual_square) {
  switch (options_.order) {
    case Order::at_once:
      return sweep_at_once(thread, part, residual_square);
    case Order::most_changed:
      return sweep_most_changed(thread, residual_square);
    case Order::quarters:
      return sweep_quarter(thread, residual_square);
  }
}

void TileSweeper::sweep_at_once(const TeamThread& thread, SweepPart part,
                                ExactAccumulator* residual_square) {
  const ThreadState& state = threads_[static_cast<std::size_t>(thread.index)];
  const std::size_t begin = part == SweepPart::interior ? state.surrounded : state.begin;
  const std::size_t end = part == SweepPart::boundary ? state.surrounded : state.end;
  for (std::size_t slot = begin; slot < end; ++slot) {
    solve_tile(thread, slot, Values::current);
    if (residual_square) residual_square->add(tiles_[slot].residual_square);
  }
}

void TileSweeper::sweep_most_changed(const TeamThread& thread, ExactAccumulator* residual_square) {
  const ThreadState& state = threads_[static_cast<std::size_t>(thread.index)];
  const double enough = least_change * change_.most_of(state.in_rows);
  const auto is_chosen = [&](std::size_t, std::size_t slot) {
    const double change = change_.of(slot);
    if (!(change > 0 && change >= enough)) return false;
    change_.forget(slot);
    return true;
  };
  sweep_in_turn(thread, (sweep_ - 1) % 2 == 0, is_chosen, residual_square);
}

void TileSweeper::sweep_quarter(const TeamThread& thread, ExactAccumulator* residual_square) {
  const std::size_t count = threads_[static_cast<std::size_t>(thread.index)].in_rows.size();
  const std::uint64_t part_count = std::clamp<std::size_t>(count, 1, relaxed_sweeps);
  const std::uint64_t part = (sweep_ - 1) % part_count;
  const auto is_chosen = [&](std::size_t i, std::size_t) { return i * part_count / count == part; };
  sweep_in_turn(thread, (sweep_ - 1) / part_count % 2 == 0, is_chosen, residual_square);
}

template <class Choice>
void TileSweeper::sweep_in_turn(const TeamThread& thread, bool is_forward, const Choice& is_chosen,
                                ExactAccumulator* residual_square) {
  const ThreadState& state = threads_[static_cast<std::size_t>(thread.index)];
  const std::size_t count = state.in_rows.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t slot = state.in_rows[is_forward ? i : count - 1 - i];
    if (is_chosen(i, slot)) solve_tile(thread, slot, Values::newest);
    if (residual_square) residual_square->add(tiles_[slot].residual_square);
  }
}

void TileSweeper::restrict_residual(const TeamThread& thread, const LinearCoarseSpace& space,
                                    std::span<double> shares) {
  constexpr std::size_t count = LinearCoarseSpace::shares_per_tile;
  ThreadState& state = threads_[static_cast<std::size_t>(thread.index)];
  for (std::size_t slot = state.begin; slot < state.end; ++slot) {
    const TileBox& box = tiles_[slot].box;
    const BoxFrame frame = frame_of(tiles_[slot]);
    const std::span<double> residual = form_residual(state, slot, Values::current, frame);
    const int tile = tile_numbers_[slot];
    space.restrict_to_corners(tile, box, frame, residual,
                              shares.subspan(count * static_cast<std::size_t>(tile), count));
  }
}

void TileSweeper::restrict_source(const TeamThread& thread, const LinearCoarseSpace& space,
                                  std::span<double> nodes) {
  std::array<double, LinearCoarseSpace::shares_per_tile> share{};
  const ThreadState& state = threads_[static_cast<std::size_t>(thread.index)];
  std::ranges::fill(nodes, 0.0);
  for (std::size_t slot = state.begin; slot < state.end; ++slot) {
    space.restrict_to_corners(tile_numbers_[slot], tiles_[slot].box, tiles_[slot].box.whole(),
                              source_of(slot), share);
    space.add_share(tile_numbers_[slot], share, nodes);
  }
}

void TileSweeper::subtract_product(const TeamThread& thread, const LinearCoarseSpace& space,
                                   std::span<double> nodes) const {
  const ThreadState& state = threads_[static_cast<std::size_t>(thread.index)];
  for (std::size_t slot = state.begin; slot < state.end; ++slot)
    space.subtract_product(tile_numbers_[slot], layout_, values_of(slot), nodes);
}

void TileSweeper::add(const TeamThread& thread, const LinearCoarseSpace& space,
                      std::span<const double> c) {
  const ThreadState& state = threads_[static_cast<std::size_t>(thread.index)];
  for (std::size_t slot = state.begin; slot < state.end; ++slot) {
    const auto corners = space.corners_around(tile_numbers_[slot], layout_.own(), c);
    inside_.add(slot, space, corners);
    for (const TileArea& area : layout_.own().around(inside_.area(slot)))
      space.add(tile_numbers_[slot], area, layout_, corners, values_of(slot));
  }
  for (std::size_t i = 0; i < halo_.neighbours().size(); ++i) add_to_ghosts(thread, i, space, c);
}

void TileSweeper::add_residual(const TeamThread& thread, SweepState state,
                               ExactAccumulator& residual_square) {
  ThreadState& own = threads_[static_cast<std::size_t>(thread.index)];
  for (std::size_t slot = own.begin; slot < own.end; ++slot) {
    if (state == SweepState::current) complete(thread, slot, Values::current);
    form_residual(own, slot, values_in(state), tiles_[slot].box.whole());
    residual_square.add(tiles_[slot].residual_square);
  }
}

void TileSweeper::judge(const TeamThread& thread) {
  ThreadState& state = threads_[static_cast<std::size_t>(thread.index)];
  for (std::size_t count = state.begin; count < state.end; ++count) {
    const Tile& tile = tiles_[state.doubtful];
    form_residual(state, state.doubtful, Values::newest, frame_of(tile));
    if (!is_converged(tile)) return;
    if (++state.doubtful == state.end) state.doubtful = state.begin;
  }
}

std::int64_t TileSweeper::unconverged_count(int thread) const {
  const ThreadState& state = threads_[static_cast<std::size_t>(thread)];
  std::int64_t count = 0;
  for (std::size_t slot = state.begin; slot < state.end; ++slot)
    count += !is_converged(tiles_[slot]);
  return count;
}

std::int64_t TileSweeper::solve_count() const {
  std::int64_t count = 0;
  for (const Tile& tile : tiles_) count += tile.solve_count;
  return count;
}

double TileSweeper::worst_tile_residual() const {
  double worst = 0;
  for (const Tile& tile : tiles_)
    worst = std::max(worst, relative_residual(tile.residual_square, std::sqrt(tile.source_square)));
  return worst;
}

int TileSweeper::sweeps_between() const { return static_cast<int>(solves_per_whole); }

}  // namespace weft::solver
