#include "tests/solver/multigrid/reference_cycle.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "solver/multigrid/grids/chebyshev.h"

namespace weft::tests {
namespace {

class ReferenceCycle {
 public:
  using Values = std::vector<double>;

  ReferenceCycle(std::vector<solver::GridLevel> levels, int steps)
      : levels_(std::move(levels)), steps_(steps) {}

  Values apply(Values r) const {
    for (double& value : r) value /= levels_.front().scale;
    return cycle(0, r);
  }

 private:
  using Point = std::array<spmv::GlobalIndex, 3>;

  static std::size_t index(const solver::GridLevel& level, const Point& at) {
    return static_cast<std::size_t>(at[0] + level.directions[0].size *
                                                (at[1] + level.directions[1].size * at[2]));
  }
  /// 0 outside of the grid.
  static double value(const solver::GridLevel& level, const Values& v, const Point& at) {
    for (std::size_t d = 0; d < 3; ++d)
      if (at[d] < 0 || at[d] >= level.directions[d].size) return 0;
    return v[index(level, at)];
  }
  template <class Visit>
  static void for_each_point(const solver::GridLevel& level, const Visit& visit) {
    for (spmv::GlobalIndex z = 0; z < level.directions[2].size; ++z)
      for (spmv::GlobalIndex y = 0; y < level.directions[1].size; ++y)
        for (spmv::GlobalIndex x = 0; x < level.directions[0].size; ++x) visit(Point{x, y, z});
  }
  static double diagonal(const solver::GridLevel& level, const Point& at) {
    return level.diagonal(at[0], at[1], at[2]);
  }
  /// Of the values around a point, by couplings.
  static double sum_of_neighbours(const solver::GridLevel& level, const Values& x,
                                  const Point& at) {
    double sum = 0;
    if (level.has_corners) {
      for (int dz = -1; dz <= 1; ++dz)
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx)
            sum += value(level, x, {at[0] + dx, at[1] + dy, at[2] + dz});
      return sum - value(level, x, at);
    }
    for (std::size_t d = 0; d < 3; ++d) {
      Point before = at;
      Point after = at;
      --before[d];
      ++after[d];
      sum += level.directions[d].before(at[d]) * value(level, x, before) +
             level.directions[d].coupling * value(level, x, after);
    }
    return sum;
  }
  static Values residual(const solver::GridLevel& level, const Values& f, const Values& x) {
    Values r(f.size());
    for_each_point(level, [&](const Point& at) {
      const std::size_t i = index(level, at);
      r[i] = f[i] - (diagonal(level, at) * x[i] - sum_of_neighbours(level, x, at));
    });
    return r;
  }
  void smooth(const solver::GridLevel& level, const Values& f, Values& x) const {
    Values before = x;
    for (int k = 0; k < steps_; ++k) {
      const solver::SmootherStep step(k, level.largest_eigenvalue());
      const Values r = residual(level, f, x);
      Values next = x;
      for_each_point(level, [&](const Point& at) {
        const std::size_t i = index(level, at);
        next[i] += step.momentum * (x[i] - before[i]) + step.factor / diagonal(level, at) * r[i];
      });
      before = x;
      x = next;
    }
  }
  /// Of fine point `fine` from coarse point `coarse`, in one direction.
  static double interpolation(const solver::GridLevel& level, std::size_t d, spmv::GlobalIndex fine,
                              spmv::GlobalIndex coarse) {
    if (!level.is_coarsened[d]) return fine == coarse ? 1 : 0;
    if (fine % 2 != 0) return fine / 2 == coarse ? 1 : 0;
    if (coarse == fine / 2 - 1) return level.directions[d].interpolation(fine)[0];
    return coarse == fine / 2 ? level.directions[d].interpolation(fine)[1] : 0;
  }

  Values cycle(std::size_t number, const Values& f) const {
    const solver::GridLevel& level = levels_[number];
    Values x(f.size());
    if (number + 1 == levels_.size()) {
      double change = 1;
      for (int sweep = 0; sweep < 10000 && change > 1e-12; ++sweep) {  // Gauss-Seidel
        change = 0;
        double largest = 0;
        for_each_point(level, [&](const Point& at) {
          const std::size_t i = index(level, at);
          const double next = (f[i] + sum_of_neighbours(level, x, at)) / diagonal(level, at);
          change = std::max(change, std::abs(next - x[i]));
          largest = std::max(largest, std::abs(next));
          x[i] = next;
        });
        change /= largest > 0 ? largest : 1;
      }
      return x;
    }
    const solver::GridLevel& coarse = levels_[number + 1];
    smooth(level, f, x);
    const Values r = residual(level, f, x);
    Values restricted(static_cast<std::size_t>(coarse.point_count()));
    const auto mass = [](const solver::GridDirection& direction, spmv::GlobalIndex i) {
      return direction.mass(i);
    };
    for_each_point(coarse, [&](const Point& to) {
      double sum = 0;
      for_each_point_near(level, to, [&](const Point& from) {
        double weight = 1;
        for (std::size_t d = 0; d < 3; ++d) {
          weight *= interpolation(level, d, from[d], to[d]);
          if (level.is_coarsened[d])
            weight *= mass(level.directions[d], from[d]) / mass(coarse.directions[d], to[d]) / 2;
        }
        sum += weight * r[index(level, from)];
      });
      restricted[index(coarse, to)] = sum / coarse.scale;
    });
    const Values e = cycle(number + 1, restricted);
    for_each_point(coarse, [&](const Point& from) {
      for_each_point_near(level, from, [&](const Point& to) {
        double weight = 1;
        for (std::size_t d = 0; d < 3; ++d) weight *= interpolation(level, d, to[d], from[d]);
        x[index(level, to)] += weight * e[index(coarse, from)];
      });
    });
    smooth(level, f, x);
    return x;
  }
  /// Fine points that touch coarse point `coarse`.
  template <class Visit>
  static void for_each_point_near(const solver::GridLevel& level, const Point& coarse,
                                  const Visit& visit) {
    Point begin;
    Point end;
    for (std::size_t d = 0; d < 3; ++d) {
      begin[d] = level.is_coarsened[d] ? 2 * coarse[d] : coarse[d];
      end[d] = level.is_coarsened[d] ? std::min(2 * coarse[d] + 3, level.directions[d].size)
                                     : coarse[d] + 1;
    }
    for (spmv::GlobalIndex z = begin[2]; z < end[2]; ++z)
      for (spmv::GlobalIndex y = begin[1]; y < end[1]; ++y)
        for (spmv::GlobalIndex x = begin[0]; x < end[0]; ++x) visit(Point{x, y, z});
  }

  std::vector<solver::GridLevel> levels_;
  int steps_;
};

}  // namespace

std::vector<double> apply_reference_cycle(std::vector<solver::GridLevel> levels, int steps,
                                          std::vector<double> r) {
  return ReferenceCycle(std::move(levels), steps).apply(std::move(r));
}

}  // namespace weft::tests
