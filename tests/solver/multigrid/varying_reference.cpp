#include "tests/solver/multigrid/varying_reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "solver/multigrid/grids/chebyshev.h"
#include "spmv/grid/grid_box.h"
#include "spmv/problems/generator.h"

namespace weft::tests {
namespace {

class VaryingReference {
 public:
  using Point = std::array<spmv::GlobalIndex, 3>;
  using Values = std::vector<double>;

  /// A grid with a coupling before each point in each direction, and one more at the end.
  struct Grid {
    Point size{1, 1, 1};
    std::array<Values, 3> before;
    Values excess;

    explicit Grid(const Point& points) : size(points), excess(static_cast<std::size_t>(count())) {
      for (auto& values : before)
        values.resize(static_cast<std::size_t>((size[0] + 1) * (size[1] + 1) * (size[2] + 1)));
    }
    spmv::GlobalIndex count() const { return size[0] * size[1] * size[2]; }
    std::size_t index(const Point& at) const {
      return static_cast<std::size_t>(at[0] + size[0] * (at[1] + size[1] * at[2]));
    }
    double& coupling(std::size_t d, const Point& at) {
      return before[d][static_cast<std::size_t>(at[0] +
                                                (size[0] + 1) * (at[1] + (size[1] + 1) * at[2]))];
    }
    double coupling(std::size_t d, const Point& at) const {
      return before[d][static_cast<std::size_t>(at[0] +
                                                (size[0] + 1) * (at[1] + (size[1] + 1) * at[2]))];
    }
    bool contains(const Point& at) const {
      for (std::size_t d = 0; d < 3; ++d)
        if (at[d] < 0 || at[d] >= size[d]) return false;
      return true;
    }
    double diagonal(const Point& at) const {
      double sum = excess[index(at)];
      for (std::size_t d = 0; d < 3; ++d) sum += coupling(d, at) + coupling(d, moved(at, d, 1));
      return sum;
    }
  };
  static Point moved(Point at, std::size_t d, spmv::GlobalIndex by) {
    at[d] += by;
    return at;
  }
  template <class Visit>
  static void for_each_point(const Point& size, const Visit& visit) {
    for (spmv::GlobalIndex z = 0; z < size[2]; ++z)
      for (spmv::GlobalIndex y = 0; y < size[1]; ++y)
        for (spmv::GlobalIndex x = 0; x < size[0]; ++x) visit(Point{x, y, z});
  }

  /// `finest_steps`: on the finest grid, `steps`: on the others.
  VaryingReference(Grid finest, spmv::GlobalIndex coarsest_points, int finest_steps, int steps)
      : finest_steps_(finest_steps), steps_(steps) {
    levels_.push_back({.grid = std::move(finest), .stages = {}});
    do {
      Level& level = levels_.back();
      const std::array<bool, 3> is_coarsened = directions(level.grid);
      Grid coarse = level.grid;
      for (std::size_t d = 0; d < 3; ++d) {
        if (!is_coarsened[d]) continue;
        level.stages.push_back({coarse, d});
        coarse = coarsened(level.stages.back());
      }
      levels_.push_back({.grid = std::move(coarse), .stages = {}});
    } while (levels_.back().grid.count() > coarsest_points);
  }

  Values apply(const Values& r) const { return cycle(0, r); }

 private:
  /// A grid that is coarsened in one direction.
  struct Stage {
    Grid grid;
    std::size_t d;

    /// Of coarse point `coarse` at fine point `fine`.
    double weight(const Point& fine, spmv::GlobalIndex coarse) const {
      if (fine[d] % 2 != 0) return fine[d] / 2 == coarse ? 1 : 0;
      const double a = grid.coupling(d, fine);
      const double b = grid.coupling(d, moved(fine, d, 1));
      const double t = a + b > 0 ? a / (a + b) : 0.5;
      return coarse == fine[d] / 2 ? 1 - t : coarse == fine[d] / 2 - 1 ? t : 0;
    }
  };
  struct Level {
    Grid grid;
    std::vector<Stage> stages;
  };

  /// Those whose mean logarithm of the couplings is that of the strongest, less one, or more.
  static std::array<bool, 3> directions(const Grid& grid) {
    std::array<double, 3> means{};
    for (std::size_t d = 0; d < 3; ++d) {
      double sum = 0;
      double number = 0;
      for_each_point(grid.size, [&](const Point& at) {
        if (at[d] == 0 || grid.coupling(d, at) <= 0) return;
        sum += std::log2(grid.coupling(d, at));
        ++number;
      });
      means[d] = number > 0 ? sum / number : -1000;
    }
    const double most = std::max({means[0], means[1], means[2]});
    std::array<bool, 3> result{};
    for (std::size_t d = 0; d < 3; ++d) result[d] = grid.size[d] > 1 && means[d] >= most - 1;
    return result;
  }
  static Grid coarsened(const Stage& stage) {
    const Grid& fine = stage.grid;
    const std::size_t d = stage.d;
    Point size = fine.size;
    size[d] /= 2;
    Grid coarse(size);
    const auto first_of = [&](Point at) {
      at[d] *= 2;
      return at;
    };
    for (std::size_t k = 0; k < 3; ++k) {
      Point ends = size;
      ++ends[k];
      for_each_point(ends, [&](const Point& at) {
        const Point first = first_of(at);
        if (k == d) {
          const double a = fine.coupling(d, first);
          const double b = first[d] < fine.size[d] ? fine.coupling(d, moved(first, d, 1)) : 0;
          coarse.coupling(k, at) = first[d] == fine.size[d] ? a : a + b > 0 ? a * b / (a + b) : 0;
          return;
        }
        double sum = 0;
        for (spmv::GlobalIndex i = 0; i < 3 && first[d] + i < fine.size[d]; ++i) {
          const Point high = moved(first, d, i);
          const Point low = moved(high, k, -1);
          double weight = 0;
          double number = 0;
          for (const Point& end : {low, high})
            if (fine.contains(end)) {
              weight += stage.weight(end, at[d]);
              ++number;
            }
          sum += weight / number * fine.coupling(k, high);
        }
        coarse.coupling(k, at) = sum;
      });
    }
    for_each_point(size, [&](const Point& at) {
      double sum = 0;
      for (spmv::GlobalIndex i = 0; i < 3 && 2 * at[d] + i < fine.size[d]; ++i) {
        const Point from = moved(first_of(at), d, i);
        sum += stage.weight(from, at[d]) * fine.excess[fine.index(from)];
      }
      coarse.excess[coarse.index(at)] = sum;
    });
    return coarse;
  }

  static Values residual(const Grid& grid, const Values& f, const Values& x) {
    Values r(f.size());
    for_each_point(grid.size, [&](const Point& at) {
      double sum = f[grid.index(at)] - grid.diagonal(at) * x[grid.index(at)];
      for (std::size_t d = 0; d < 3; ++d) {
        if (at[d] > 0) sum += grid.coupling(d, at) * x[grid.index(moved(at, d, -1))];
        if (at[d] + 1 < grid.size[d])
          sum += grid.coupling(d, moved(at, d, 1)) * x[grid.index(moved(at, d, 1))];
      }
      r[grid.index(at)] = sum;
    });
    return r;
  }
  static void smooth(const Grid& grid, int steps, const Values& f, Values& x) {
    Values before = x;
    for (int k = 0; k < steps; ++k) {
      const solver::SmootherStep step(k, 2);
      const Values r = residual(grid, f, x);
      Values next = x;
      for_each_point(grid.size, [&](const Point& at) {
        const std::size_t i = grid.index(at);
        next[i] += step.momentum * (x[i] - before[i]) + step.factor / grid.diagonal(at) * r[i];
      });
      before = x;
      x = next;
    }
  }
  /// Calls visit(fine point, coarse point, weight).
  template <class Visit>
  static void for_each_weight(const Stage& stage, const Visit& visit) {
    for_each_point(stage.grid.size, [&](const Point& fine) {
      for (const spmv::GlobalIndex j : {fine[stage.d] / 2 - 1, fine[stage.d] / 2}) {
        Point coarse = fine;
        coarse[stage.d] = j;
        if (j >= 0 && j < stage.grid.size[stage.d] / 2) visit(fine, coarse, stage.weight(fine, j));
      }
    });
  }
  static std::size_t coarse_index(const Stage& stage, const Point& at) {
    Point size = stage.grid.size;
    size[stage.d] /= 2;
    return static_cast<std::size_t>(at[0] + size[0] * (at[1] + size[1] * at[2]));
  }

  Values cycle(std::size_t number, const Values& f) const {
    const Level& level = levels_[number];
    Values x(f.size());
    if (number + 1 == levels_.size()) {
      return solved(level.grid, f);
    }
    const int steps = number == 0 ? finest_steps_ : steps_;
    smooth(level.grid, steps, f, x);
    Values r = residual(level.grid, f, x);
    for (const Stage& stage : level.stages) {
      Values coarse(r.size() / static_cast<std::size_t>(stage.grid.size[stage.d]) *
                    static_cast<std::size_t>(stage.grid.size[stage.d] / 2));
      for_each_weight(stage, [&](const Point& from, const Point& to, double weight) {
        coarse[coarse_index(stage, to)] += weight * r[stage.grid.index(from)];
      });
      r = coarse;
    }
    Values e = cycle(number + 1, r);
    for (auto stage = level.stages.rbegin(); stage != level.stages.rend(); ++stage) {
      Values fine(static_cast<std::size_t>(stage->grid.count()));
      for_each_weight(*stage, [&](const Point& to, const Point& from, double weight) {
        fine[stage->grid.index(to)] += weight * e[coarse_index(*stage, from)];
      });
      e = fine;
    }
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += e[i];
    smooth(level.grid, steps, f, x);
    return x;
  }
  /// By Gaussian elimination.
  static Values solved(const Grid& grid, Values f) {
    const std::size_t count = f.size();
    std::vector<Values> rows(count);
    for (std::size_t j = 0; j < count; ++j) {
      Values unit(count);
      unit[j] = -1;
      rows[j] = residual(grid, Values(count), unit);  // column j, which is row j
    }
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t k = i + 1; k < count; ++k) {
        const double factor = rows[k][i] / rows[i][i];
        if (factor == 0) continue;
        for (std::size_t j = i; j < count; ++j) rows[k][j] -= factor * rows[i][j];
        f[k] -= factor * f[i];
      }
    for (std::size_t i = count; i-- > 0;) {
      for (std::size_t j = i + 1; j < count; ++j) f[i] -= rows[i][j] * f[j];
      f[i] /= rows[i][i];
    }
    return f;
  }

  std::vector<Level> levels_;
  int finest_steps_;
  int steps_;
};

/// The couplings of a generated matrix.
VaryingReference::Grid reference_grid(const spmv::Problem& problem) {
  using Point = VaryingReference::Point;
  using spmv::GlobalIndex;
  const Point size{problem.grid.x, problem.grid.y, problem.grid.z};
  VaryingReference::Grid grid(size);
  const Point strides{1, size[0], size[0] * size[1]};
  spmv::visit_rows(
      problem, 0, problem.row_count(),
      [&](GlobalIndex row, std::span<const GlobalIndex> columns, std::span<const double> values) {
        const Point at{row % size[0], row / size[0] % size[1], row / size[0] / size[1]};
        double& excess = grid.excess[grid.index(at)];
        for (std::size_t i = 0; i < columns.size(); ++i) {
          excess += values[i];
          for (std::size_t d = 0; d < 3; ++d)
            if (columns[i] == row - strides[d] && at[d] > 0) grid.coupling(d, at) = -values[i];
        }
        if (excess < 1e-12 * values[columns.size() / 2]) excess = 0;
      });
  // Excess beside boundaries is shared among them as the couplings on their other sides are.
  auto given = grid;
  VaryingReference::for_each_point(size, [&](const Point& at) {
    double total = 0;
    double sum = 0;
    double neighbours = 0;
    double single = 0;
    std::vector<std::pair<double*, double>> shares;
    for (std::size_t d = 0; d < 3; ++d) {
      const Point next = VaryingReference::moved(at, d, 1);
      if (size[d] == 1) single += 2;
      if (size[d] == 1) continue;
      if (at[d] == 0)
        shares.emplace_back(&given.coupling(d, at), grid.coupling(d, next));
      else
        sum += grid.coupling(d, at), ++neighbours;
      if (next[d] == size[d])
        shares.emplace_back(&given.coupling(d, next), grid.coupling(d, at));
      else
        sum += grid.coupling(d, next), ++neighbours;
    }
    if (shares.empty()) return;
    if (neighbours > 0) total = single * sum / neighbours;
    for (const auto& share : shares) total += share.second;
    const double excess = grid.excess[grid.index(at)];
    for (const auto& [coupling, weight] : shares) {
      *coupling = excess * weight / total;
      given.excess[grid.index(at)] -= *coupling;
    }
  });
  return given;
}

}  // namespace

std::vector<double> apply_varying_reference(const spmv::Problem& problem,
                                            spmv::GlobalIndex coarsest_points, int finest_steps,
                                            int steps, const std::vector<double>& r) {
  return VaryingReference(reference_grid(problem), coarsest_points, finest_steps, steps).apply(r);
}

}  // namespace weft::tests
