#include "solver/tiles/change.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::solver {
namespace {

/// Not a corner.
bool is_edge(TileSide side) { return side.x == 0 || side.y == 0; }

}  // namespace

TileChange::TileChange(const SchwarzProblem& problem, const TileLayout& layout,
                       std::size_t tile_count)
    : problem_(problem), layout_(layout), change_(tile_count) {
  for (std::atomic<double>& change : change_) change = std::numeric_limits<double>::infinity();
}

double TileChange::most_of(std::span<const std::size_t> slots) const {
  double most = 0;
  for (const std::size_t slot : slots) most = std::max(most, of(slot));
  return most;
}

/// `side`: on which what has changed lies. `change` of a value at x, y: in coordinates of the tile
/// that is solved from it.
template <class Change>
double TileChange::change_along(TileSide side, const Change& change) const {
  const int points = problem_.points_per_side;
  const bool is_behind = side.x + side.y > 0;
  const auto depth = [&](int layer) { return is_behind ? points + layer : -1 - layer; };
  const auto at = [&](int layer, int along) {
    return side.x != 0 ? change(depth(layer), along) : change(along, depth(layer));
  };
  double square = 0;
  for (int i = 0; i < points; ++i) {
    double sum = at(problem_.overlap, i);
    if (problem_.overlap > 0) sum -= problem_.beta() * at(problem_.overlap - 1, i);
    square += sum * sum;
  }
  return std::sqrt(square);
}

void TileChange::tell(const TileBox& box, std::span<const double> correction,
                      std::span<const TileHalo::LocalStrip> neighbours) {
  const int points = problem_.points_per_side;
  for (const TileHalo::LocalStrip& strip : neighbours) {
    const TileSide side = layout_.side_of_ghosts(strip.area);
    if (!is_edge(side)) continue;
    const double change = change_along({-side.x, -side.y}, [&](int x, int y) {
      return correction[box.place(x + side.x * points, y + side.y * points)];
    });
    change_[static_cast<std::size_t>(strip.source_slot)].fetch_add(change,
                                                                   std::memory_order_release);
  }
}

void TileChange::tell(const TileHalo::Strip& strip, const double* values,
                      std::span<const double> in) {
  const TileSide side = layout_.side_of_ghosts(strip.area);
  if (!is_edge(side)) return;
  const double* const from = in.data() + strip.begin;
  const double change = change_along(side, [&](int x, int y) {
    const std::ptrdiff_t row = std::ptrdiff_t{y - strip.area.y_begin} * strip.area.width();
    return from[row + x - strip.area.x_begin] - values[layout_.index(x, y)];
  });
  change_[static_cast<std::size_t>(strip.slot)].fetch_add(change, std::memory_order_release);
}

}  // namespace weft::solver
