// What enters and leaves a rank's tiles: ghosts, the recorded state, checkpoints.
#include <algorithm>
#include <iterator>

#include "solver/tiles/tile_sweeper.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;

/// Calls work(first element of a row, its place in the message, its length) for the rows of a
/// strip.
template <class Work>
void for_each_row(const TileLayout& layout, const TileArea& area, const Work& work) {
  std::size_t place = 0;
  for (int y = area.y_begin; y < area.y_end; ++y) {
    work(layout.index(area.x_begin, y), place, area.width());
    place += static_cast<std::size_t>(area.width());
  }
}

std::span<const TileHalo::Strip> share_of_strips(const std::vector<TileHalo::Strip>& strips,
                                                 const TeamThread& thread) {
  const auto [begin, end] = comm_thread::share_of(std::ssize(strips), thread.index, thread.count);
  return std::span(strips).subspan(static_cast<std::size_t>(begin),
                                   static_cast<std::size_t>(end - begin));
}

}  // namespace

void TileSweeper::add_to_ghosts(const TeamThread& thread, std::size_t neighbour,
                                const LinearCoarseSpace& space, std::span<const double> c) {
  for (const TileHalo::Strip& strip : share_of_strips(halo_.message(neighbour).received, thread)) {
    const auto slot = static_cast<std::size_t>(strip.slot);
    for (const std::size_t array : {0U, 1U})
      space.add(tile_numbers_[slot], strip.area, layout_,
                space.corners_around(tile_numbers_[slot], strip.area, c), values_of(slot, array));
  }
}

void TileSweeper::copy_in(const TeamThread& thread, Array& array, std::size_t neighbour,
                          std::span<const double> in) const {
  for (const TileHalo::Strip& strip : share_of_strips(halo_.message(neighbour).received, thread)) {
    double* const values =
        array.data() + static_cast<std::size_t>(strip.slot) * layout_.element_count();
    const double* const from = in.data() + strip.begin;
    for_each_row(layout_, strip.area, [&](std::size_t first, std::size_t place, int width) {
      copy_row(from + place, width, values + first);
    });
  }
}

void TileSweeper::pack(const TeamThread& thread, SweepState state, std::size_t neighbour,
                       std::span<double> out) const {
  for (const TileHalo::Strip& strip : share_of_strips(halo_.message(neighbour).sent, thread)) {
    const double* const values = values_of(static_cast<std::size_t>(strip.slot), values_in(state));
    double* const to = out.data() + strip.begin;
    for_each_row(layout_, strip.area, [&](std::size_t first, std::size_t place, int width) {
      copy_row(values + first, width, to + place);
    });
  }
}

void TileSweeper::unpack(const TeamThread& thread, SweepState state, std::size_t neighbour,
                         std::span<const double> in) {
  if (state == SweepState::recorded) return copy_in(thread, recorded_, neighbour, in);
  if (options_.order == Order::most_changed)
    for (const TileHalo::Strip& strip : share_of_strips(halo_.message(neighbour).received, thread))
      change_.tell(strip, values_of(static_cast<std::size_t>(strip.slot)), in);
  // The other array's ghosts, too: a sweep without a new message reads them after the arrays
  // changed places.
  for (Array& array : arrays_) copy_in(thread, array, neighbour, in);
}

void TileSweeper::record(const TeamThread& thread) {
  if (recorded_.size() == 0) {
    thread.barrier();
    if (thread.is_primary()) recorded_ = Array(arrays_[0].size());
    thread.barrier();
  }
  const ThreadState& state = threads_[static_cast<std::size_t>(thread.index)];
  for (std::size_t slot = state.begin; slot < state.end; ++slot) {
    complete(thread, slot, Values::current);
    std::copy_n(values_of(slot), layout_.element_count(), values_of(slot, Values::recorded));
  }
}

/// Elements are counted as if all tiles were in one array.
PackedRows TileSweeper::rows() const {
  const int points = problem_.points_per_side;
  std::vector<std::vector<PackedRows::Piece>> pieces;
  for (const ThreadState& state : threads_) {
    pieces.emplace_back();
    for (std::size_t slot = state.begin; slot < state.end; ++slot) {
      const int tile = tile_numbers_[slot];
      const spmv::GlobalIndex x = spmv::GlobalIndex{tile % problem_.tiles_per_side} * points;
      const spmv::GlobalIndex y = spmv::GlobalIndex{tile / problem_.tiles_per_side} * points;
      for (int line = 0; line < points; ++line)
        pieces.back().push_back({slot * layout_.element_count() + layout_.index(0, line),
                                 (y + line) * problem_.grid_side() + x,
                                 static_cast<std::size_t>(points)});
    }
  }
  return {pieces, problem_.grid_side() * problem_.grid_side()};
}

void TileSweeper::save(const TeamThread& thread, const PackedRows& rows, std::size_t /*vector*/,
                       double* packed) {
  complete(thread);
  rows.for_each_piece(thread, [&](std::size_t element, std::size_t place, std::size_t count) {
    const std::size_t slot = element / layout_.element_count();
    std::copy_n(values_of(slot) + element % layout_.element_count(), count, packed + place);
  });
}

/// Synchronous sweeps have solved every tile once each; what asynchronous ones have solved, nobody
/// knows.
void TileSweeper::load(const TeamThread& thread, const PackedRows& rows, std::size_t /*vector*/,
                       const double* packed, std::int64_t sweep) {
  rows.for_each_piece(thread, [&](std::size_t element, std::size_t place, std::size_t count) {
    const std::size_t slot = element / layout_.element_count();
    std::copy_n(packed + place, count, values_of(slot) + element % layout_.element_count());
  });
  const ThreadState& state = threads_[static_cast<std::size_t>(thread.index)];
  for (std::size_t slot = state.begin; slot < state.end; ++slot)
    tiles_[slot].solve_count = options_.order == Order::at_once ? sweep : 0;
}

}  // namespace weft::solver
