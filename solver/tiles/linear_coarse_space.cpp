#include "solver/tiles/linear_coarse_space.h"

#include <algorithm>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"

namespace weft::solver {
namespace {

constexpr int most_tiles_per_side = 1024;

void check(int tiles_per_side, int points_per_side) {
  if (tiles_per_side < 2 || tiles_per_side > most_tiles_per_side)
    throw comm_thread::InputError(
        fmt::format("a coarse space for {} subdomains per side: expected 2 to {}", tiles_per_side,
                    most_tiles_per_side));
  if (points_per_side < 2)
    throw comm_thread::InputError(
        "a coarse space for subdomains of 1 point per side: expected 2 points or more");
}

/// Contribution of a pair of functions of one variable: the discrete ∫a'b' and ∫ab.
struct Products {
  double stiffness = 0;
  double mass = 0;
};

}  // namespace

LinearCoarseSpace::LinearCoarseSpace(int tiles_per_side, int points_per_side)
    : tiles_per_side_(tiles_per_side), points_per_side_(points_per_side) {
  check(tiles_per_side, points_per_side);
  const int side = tiles_per_side * points_per_side;
  for (int x = 0; x < side; ++x) {
    const int cell = x / points_per_side;
    const double left = cell == 0 ? -1 : cell * points_per_side - 0.5;
    const double right = cell == tiles_per_side - 1 ? side : (cell + 1) * points_per_side - 0.5;
    right_weight_.push_back((x - left) / (right - left));
  }
  factor_ = std::make_unique<CholmodFactor>(matrix(), 1,
                                            "the coarse problem is not positive definite; expected "
                                            "fewer subdomains, or more points in them");
  right_hand_side_.resize(unknown_count());
  std::vector<double> c(node_count());
  solve(c, c);  // so that it does not allocate later
}

double LinearCoarseSpace::function(int node, int x) const {
  const int cell = x >= 0 && x < tiles_per_side_ * points_per_side_ ? x / points_per_side_ : -2;
  if (cell == node - 1) return right_weight(x);
  return cell == node ? 1 - right_weight(x) : 0;
}

/// A is a Kronecker sum and functions are products, so Pᵀ·A·P = K ⊗ M + M ⊗ K, with K and M of one
/// variable.
LowerTriangle LinearCoarseSpace::matrix() const {
  const int count = tiles_per_side_ - 1;
  const auto products = [&](int a, int b) {  // of the functions of nodes a + 1 and b + 1
    Products sum;
    for (int x = a * points_per_side_; x < (a + 2) * points_per_side_; ++x) {
      sum.stiffness += function(a + 1, x) * second_difference(b + 1, x);
      sum.mass += function(a + 1, x) * function(b + 1, x);
    }
    return sum;
  };
  constexpr int reach = 2;
  std::vector<Products> table;  // of functions a and a - reach … a + reach
  for (int a = 0; a < count; ++a)
    for (int b = a - reach; b <= a + reach; ++b)
      table.push_back(b >= 0 && b < count ? products(a, b) : Products{});
  const auto at = [&](int a, int b) -> const Products& {
    return table[static_cast<std::size_t>(a * (2 * reach + 1) + b - a + reach)];
  };
  LowerTriangle result{unknown_count(), {}};
  for (int y = 0; y < count; ++y)
    for (int x = 0; x < count; ++x)
      for (int v = std::max(0, y - reach); v <= y; ++v)
        for (int u = std::max(0, x - reach); u <= std::min(count - 1, x + reach); ++u) {
          const int row = y * count + x;
          const int column = v * count + u;
          if (column > row) continue;
          const Products& in_x = at(x, u);
          const Products& in_y = at(y, v);
          result.entries.push_back(
              {row, column, in_x.stiffness * in_y.mass + in_x.mass * in_y.stiffness});
        }
  return result;
}

void LinearCoarseSpace::restrict_to_corners(int tile, const TileBox& box, const BoxFrame& frame,
                                            std::span<const double> r,
                                            std::span<double> share) const {
  const int x_own = tile % tiles_per_side_ * points_per_side_;
  const int y_own = tile / tiles_per_side_ * points_per_side_;
  std::fill_n(share.begin(), shares_per_tile, 0.0);
  const auto add = [&](int box_column, int box_row, int count) {
    const int y = box.area.y_begin + box_row;
    const int begin = std::max(0, box.area.x_begin + box_column);
    const int end = std::min(points_per_side_, box.area.x_begin + box_column + count);
    if (y < 0 || y >= points_per_side_) return;
    const double* const row = r.data() + box.place(0, y);
    double left = 0;
    double right = 0;
    for (int x = begin; x < end; ++x) {
      right += right_weight(x_own + x) * row[x];
      left += (1 - right_weight(x_own + x)) * row[x];
    }
    const double up = right_weight(y_own + y);
    share[0] += (1 - up) * left;
    share[1] += (1 - up) * right;
    share[2] += up * left;
    share[3] += up * right;
  };
  frame.for_each_run(box.area.width(), box.area.height(), add, [](int, int, int) {});
}

void LinearCoarseSpace::add_share(int tile, std::span<const double> share,
                                  std::span<double> nodes) const {
  const int column = tile % tiles_per_side_;
  const int row = tile / tiles_per_side_;
  nodes[node(column, row)] += share[0];
  nodes[node(column + 1, row)] += share[1];
  nodes[node(column, row + 1)] += share[2];
  nodes[node(column + 1, row + 1)] += share[3];
}

void LinearCoarseSpace::sum_shares(std::span<const double> shares, std::span<double> nodes) const {
  std::fill(nodes.begin(), nodes.end(), 0.0);
  for (int tile = 0; tile < tiles_per_side_ * tiles_per_side_; ++tile)
    add_share(tile, shares.subspan(shares_per_tile * static_cast<std::size_t>(tile)), nodes);
}

/// A·P is (second difference of one function) times (the other), and the other way round.
void LinearCoarseSpace::subtract_product(int tile, const TileLayout& layout, const double* values,
                                         std::span<double> nodes) const {
  const int column = tile % tiles_per_side_;
  const int row = tile / tiles_per_side_;
  const int x_own = column * points_per_side_;
  const int y_own = row * points_per_side_;
  for (const int edge : {0, points_per_side_ - 1}) {
    double in_column[2] = {0, 0};  // of the values on a column, times the functions in y
    double in_row[2] = {0, 0};
    for (int i = 0; i < points_per_side_; ++i) {
      const double on_column = values[layout.index(edge, i)];
      const double on_row = values[layout.index(i, edge)];
      in_column[0] += (1 - right_weight(y_own + i)) * on_column;
      in_column[1] += right_weight(y_own + i) * on_column;
      in_row[0] += (1 - right_weight(x_own + i)) * on_row;
      in_row[1] += right_weight(x_own + i) * on_row;
    }
    for (int step = -1; step <= 2; ++step)
      for (const int other : {0, 1}) {
        if (column + step >= 0 && column + step <= tiles_per_side_)
          nodes[node(column + step, row + other)] -=
              second_difference(column + step, x_own + edge) * in_column[other];
        if (row + step >= 0 && row + step <= tiles_per_side_)
          nodes[node(column + other, row + step)] -=
              second_difference(row + step, y_own + edge) * in_row[other];
      }
  }
}

void LinearCoarseSpace::solve(std::span<const double> nodes, std::span<double> c) {
  const int count = tiles_per_side_ - 1;
  std::size_t unknown = 0;
  for (int y = 1; y <= count; ++y)
    for (int x = 1; x <= count; ++x) right_hand_side_[unknown++] = nodes[node(x, y)];
  const std::span<const double> solution = factor_->solve(0, right_hand_side_);
  std::fill(c.begin(), c.end(), 0.0);
  unknown = 0;
  for (int y = 1; y <= count; ++y)
    for (int x = 1; x <= count; ++x) c[node(x, y)] = solution[unknown++];
}

LinearCoarseSpace::Corners LinearCoarseSpace::corners_around(int tile, const TileArea& area,
                                                             std::span<const double> c) const {
  const int x = tile % tiles_per_side_ * points_per_side_ + area.x_begin;
  const int y = tile / tiles_per_side_ * points_per_side_ + area.y_begin;
  const double* const below = c.data() + node(x / points_per_side_, y / points_per_side_);
  const double* const above = below + node(0, 1);
  return {below[0], below[1], above[0], above[1]};
}

void LinearCoarseSpace::add(int tile, const TileArea& area, const TileLayout& layout,
                            const Corners& c, double* values) const {
  const int x_own = tile % tiles_per_side_ * points_per_side_;
  const int y_own = tile / tiles_per_side_ * points_per_side_;
  for (int y = area.y_begin; y < area.y_end; ++y) {
    const double up = right_weight(y_own + y);
    const double left = (1 - up) * c[0] + up * c[2];
    const double right = (1 - up) * c[1] + up * c[3];
    double* const to = values + layout.index(area.x_begin, y);
    for (int x = 0; x < area.width(); ++x)
      to[x] += left + right_weight(x_own + area.x_begin + x) * (right - left);
  }
}

}  // namespace weft::solver
