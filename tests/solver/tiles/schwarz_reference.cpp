#include "tests/solver/tiles/schwarz_reference.h"

#include <algorithm>
#include <cmath>

#include "spmv/problems/random_numbers.h"
#include "spmv/problems/right_hand_side.h"

namespace weft::tests {

SchwarzReference::SchwarzReference(const solver::SchwarzProblem& problem)
    : problem_(problem),
      side_(problem.tiles_per_side * problem.points_per_side),
      x_(static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_)) {
  const int q = problem.tiles_per_side;
  const int m = problem.points_per_side;
  for (int j = 0; j < q; ++j)
    for (int i = 0; i < q; ++i) {
      Tile part;
      part.x_own = i * m;
      part.y_own = j * m;
      part.west = i > 0;
      part.east = i + 1 < q;
      part.south = j > 0;
      part.north = j + 1 < q;
      part.x_begin = i * m - (part.west ? problem.overlap : 0);
      part.x_end = (i + 1) * m + (part.east ? problem.overlap : 0);
      part.y_begin = j * m - (part.south ? problem.overlap : 0);
      part.y_end = (j + 1) * m + (part.north ? problem.overlap : 0);
      part.factors = factored_matrix(part);
      parts_.push_back(part);
    }
}

double SchwarzReference::value_in(const std::vector<double>& values, int x, int y) const {
  if (x < 0 || y < 0 || x >= side_ || y >= side_) return 0;
  return values[static_cast<std::size_t>(y * side_ + x)];
}

double SchwarzReference::value(int x, int y) const { return value_in(x_, x, y); }

int SchwarzReference::tile_at(int x, int y) const {
  const int m = problem_.points_per_side;
  return y / m * problem_.tiles_per_side + x / m;
}

double SchwarzReference::b(int x, int y) const {
  if (problem_.right_hand_side.kind == spmv::RightHandSideKind::ones) return 1;
  const auto exact = [&](int column, int row) {
    if (column < 0 || row < 0 || column >= side_ || row >= side_) return 0.0;
    return spmv::uniform(problem_.right_hand_side.seed, row * side_ + column);
  };
  return 4 * exact(x, y) - exact(x - 1, y) - exact(x + 1, y) - exact(x, y - 1) - exact(x, y + 1);
}

double SchwarzReference::residual(int x, int y) const {
  return b(x, y) - 4 * value(x, y) + value(x - 1, y) + value(x + 1, y) + value(x, y - 1) +
         value(x, y + 1);
}

std::vector<std::vector<double>> SchwarzReference::factored_matrix(const Tile& part) const {
  const double beta = 1 / (1 + problem_.alpha);
  const int width = part.x_end - part.x_begin;
  const int height = part.y_end - part.y_begin;
  const auto size = static_cast<std::size_t>(width * height);
  std::vector<std::vector<double>> a(size, std::vector<double>(size));
  const auto number = [&](int x, int y) { return static_cast<std::size_t>(y * width + x); };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      std::vector<double>& row = a[number(x, y)];
      row[number(x, y)] = 4 - beta * ((part.west && x == 0) + (part.east && x == width - 1) +
                                      (part.south && y == 0) + (part.north && y == height - 1));
      if (x > 0) row[number(x - 1, y)] = -1;
      if (x + 1 < width) row[number(x + 1, y)] = -1;
      if (y > 0) row[number(x, y - 1)] = -1;
      if (y + 1 < height) row[number(x, y + 1)] = -1;
    }
  for (std::size_t pivot = 0; pivot < size; ++pivot)
    for (std::size_t row = pivot + 1; row < size; ++row) {
      const double factor = a[row][pivot] /= a[pivot][pivot];
      if (factor == 0) continue;
      for (std::size_t column = pivot + 1; column < size; ++column)
        a[row][column] -= factor * a[pivot][column];
    }
  return a;
}

std::vector<double> SchwarzReference::solve(const Tile& part,
                                            const std::vector<double>& seen) const {
  const double beta = 1 / (1 + problem_.alpha);
  std::vector<double> y;
  for (int row = part.y_begin; row < part.y_end; ++row)
    for (int column = part.x_begin; column < part.x_end; ++column) {
      double right_hand_side = b(column, row);
      const auto add = [&](bool is_on_side, int x_outside, int y_outside) {
        if (is_on_side)
          right_hand_side +=
              value_in(seen, x_outside, y_outside) - beta * value_in(seen, column, row);
      };
      add(part.west && column == part.x_begin, column - 1, row);
      add(part.east && column == part.x_end - 1, column + 1, row);
      add(part.south && row == part.y_begin, column, row - 1);
      add(part.north && row == part.y_end - 1, column, row + 1);
      y.push_back(right_hand_side);
    }
  const auto& a = part.factors;
  for (std::size_t row = 0; row < y.size(); ++row)
    for (std::size_t column = 0; column < row; ++column) y[row] -= a[row][column] * y[column];
  for (std::size_t row = y.size(); row-- > 0;) {
    for (std::size_t column = row + 1; column < y.size(); ++column)
      y[row] -= a[row][column] * y[column];
    y[row] /= a[row][row];
  }
  return y;
}

void SchwarzReference::keep_own(const Tile& part, const std::vector<double>& solution,
                                std::vector<double>& values) const {
  const int m = problem_.points_per_side;
  for (int y = part.y_own; y < part.y_own + m; ++y)
    for (int x = part.x_own; x < part.x_own + m; ++x)
      values[static_cast<std::size_t>(y * side_ + x)] = solution[static_cast<std::size_t>(
          (y - part.y_begin) * (part.x_end - part.x_begin) + x - part.x_begin)];
}

double SchwarzReference::edge_change(const Tile& part, const std::vector<double>& change) const {
  const double beta = 1 / (1 + problem_.alpha);
  const int m = problem_.points_per_side;
  const auto edge = [&](bool is_there, int x, int y, int x_outwards, int y_outwards) {
    double square = 0;
    for (int i = 0; is_there && i < m; ++i) {
      const int column = x + (x_outwards == 0 ? i : 0);
      const int row = y + (y_outwards == 0 ? i : 0);
      const double outside = value_in(change, column + x_outwards, row + y_outwards);
      const bool is_own = problem_.overlap == 0;
      const double difference = outside - (is_own ? 0 : beta * value_in(change, column, row));
      square += difference * difference;
    }
    return std::sqrt(square);
  };
  return edge(part.west, part.x_begin, part.y_own, -1, 0) +
         edge(part.east, part.x_end - 1, part.y_own, 1, 0) +
         edge(part.south, part.x_own, part.y_begin, 0, -1) +
         edge(part.north, part.x_own, part.y_end - 1, 0, 1);
}

int SchwarzReference::sweep_in_turn(bool is_forward) {
  const double enough = 0.6 * std::ranges::max_element(parts_, {}, &Tile::change)->change;
  int solved = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Tile& part = parts_[is_forward ? i : parts_.size() - 1 - i];
    if (part.change == 0 || part.change < enough) continue;
    std::vector<double> change = x_;
    keep_own(part, solve(part, x_), x_);
    for (std::size_t k = 0; k < change.size(); ++k) change[k] = x_[k] - change[k];
    for (Tile& other : parts_) other.change += edge_change(other, change);
    part.change = 0;
    ++solved;
  }
  return solved;
}

void SchwarzReference::sweep() {
  exchanged_ = x_;
  sweep_without_exchange(solver::TilePartition(problem_.tiles_per_side, 1));
}

void SchwarzReference::sweep_without_exchange(const solver::TilePartition& partition) {
  std::vector<double> next(x_.size());
  for (const Tile& part : parts_) {
    const int rank = partition.rank_of(tile_at(part.x_own, part.y_own));
    std::vector<double> seen = x_;
    for (int y = 0; y < side_; ++y)
      for (int x = 0; x < side_; ++x) {
        const auto place = static_cast<std::size_t>(y * side_ + x);
        if (partition.rank_of(tile_at(x, y)) != rank) seen[place] = exchanged_[place];
      }
    keep_own(part, solve(part, seen), next);
  }
  x_ = next;
}

int SchwarzReference::unconverged_count(double tolerance) const {
  int count = 0;
  const int m = problem_.points_per_side;
  for (const Tile& part : parts_) {
    double r_square = 0;
    double b_square = 0;
    for (int y = part.y_own; y < part.y_own + m; ++y)
      for (int x = part.x_own; x < part.x_own + m; ++x) {
        r_square += residual(x, y) * residual(x, y);
        b_square += b(x, y) * b(x, y);
      }
    count += !(std::sqrt(r_square) < tolerance * std::sqrt(b_square));
  }
  return count;
}

double SchwarzReference::residual_square() const {
  double square = 0;
  for (int y = 0; y < side_; ++y)
    for (int x = 0; x < side_; ++x) square += residual(x, y) * residual(x, y);
  return square;
}

int SchwarzReference::sweep_to(double tolerance, int most) {
  int sweeps = 0;
  while (sweeps < most && unconverged_count(tolerance) > 0) {
    sweep();
    ++sweeps;
  }
  return sweeps;
}

}  // namespace weft::tests
