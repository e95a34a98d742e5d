#include "solver/multigrid/varying_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "solver/multigrid/couplings/made_level.h"
#include "solver/multigrid/couplings/roughness.h"
#include "solver/multigrid/grids/box_exchange.h"
#include "solver/multigrid/passes/grid_pass.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;

/// Smoothing steps on coarser grids where couplings vary: what these leave is most of the error
/// where coefficients jump.
constexpr int varying_steps = 4;

/// On the finest grid as many as its share of rough points wants: with few of them, coarser grids
/// decide, and a step is a sixth of an iteration. 96³, CG, iterations with 2, 3 and 4 steps, which
/// take 0.79, 0.91 and 1 of the time each: checkerboard of 1:1000, blocks of 8, 10, 10 and 10,
/// blocks of 16, 12, 12 and 11, jumps of 1:10 000 9, 8 and 7; lognormal with sigma 1 11, 8 and 7.
/// Where couplings jump from point to point, strongly coupled pairs and triples lie between coarse
/// points: lognormal with sigma 2, 100³, takes 20, 16, 14 and 12 iterations with 4, 5, 6 and 8
/// steps, and the least time with 6. Shares: roughness.h; lognormal with sigma 1, 1.5 and 2 0.30,
/// 0.49 and 0.58.
int steps_for(double rough_share) {
  if (rough_share <= 0.25) return 2;
  return rough_share <= 0.4 ? varying_steps : 6;
}

/// Makes the plan grid by grid.
template <class Value>
class Planner {
 public:
  Planner(const comm_thread::Crew& crew, const CycleOptions& options)
      : crew_(crew), communicator_(crew.communicator()), team_(crew.team()), options_(options) {}

  GridPlan<Value> collective_make(const spmv::GridPartition& partition, CouplingView own,
                                  const std::array<bool, 3>& has_boundary) {
    GridPlan<Value> plan;
    GridBox grid = partition.domain();
    LevelCuts finer(partition);
    const double scale = collective_largest(crew_, own);
    own.factor = 1 / scale;
    GridCouplings couplings;  // of the grid, where they are not those of `own`
    while (true) {
      const bool is_finest = plan.levels.empty();
      const bool is_last = !is_finest && grid.point_count() <= coarsest_points;
      const int steps = options_.steps_on(plan.levels.size());
      const int pass_depth = DownPass<Value>::depth(steps);
      // Each of three directions takes what it needs of the weights around it.
      const int depth = std::max(pass_depth, steps + 4);
      LevelPlan<Value> level{.grid = {},
                             .cuts = planned_cuts(finer, is_finest, is_last, options_.least_points),
                             .finer_cuts = finer};
      for (std::size_t d = 0; d < 3; ++d) level.grid.directions[d].size = grid.end[d];
      if (is_finest) level.grid.scale = scale;
      if (communicator_.size() > 1)
        couplings = collective_with_halo(is_finest ? copy_of(own) : std::move(couplings), finer,
                                         level.cuts, grid, depth);
      if (is_last) {
        if (!level.cuts.box(communicator_.rank()).is_empty())
          level.coarsest = std::make_unique<GridCouplings>(std::move(couplings));
        plan.levels.push_back(std::move(level));
        return plan;
      }
      const GridBox own_points = level.cuts.box(communicator_.rank());
      LevelMaking making{
          .from = is_finest && communicator_.size() == 1 ? own : couplings.view(grid),
          .has_boundary = is_finest ? &has_boundary : nullptr,
          .is_coarsened = {},
          .passed = own_points.is_empty() ? GridBox{} : grown(own_points, pass_depth, grid),
          .own = own_points};
      couplings = collective_coarsen(making, level, plan);
      for (std::size_t d = 0; d < 3; ++d)
        if (level.grid.is_coarsened[d]) grid.end[d] /= 2;
      finer = level.cuts.coarse(level.grid.is_coarsened);
      plan.levels.push_back(std::move(level));
    }
  }

 private:
  /// Chooses the directions of a level and makes its couplings; returns those of the next one.
  GridCouplings collective_coarsen(LevelMaking& making, LevelPlan<Value>& level,
                                   GridPlan<Value>& plan) {
    collective_choose_directions(making.from, making.own, level.grid);
    making.is_coarsened = level.grid.is_coarsened;
    MadeLevel<Value> made = make_varying_level<Value>(team_, making);
    if (making.has_boundary)
      plan.inverse_norm = collective_inverse_norm(made.least_diagonal, level.grid);
    level.couplings = std::make_unique<LevelCouplings<Value>>(std::move(made.couplings));
    return std::move(made.coarse);
  }
  GridCouplings copy_of(const CouplingView& view) const {
    GridCouplings copy(view.points);
    team_.run([&](const TeamThread& thread) {
      CouplingPlane plane(view.points);
      const GridBox& points = view.points;
      const auto share = comm_thread::share_of(points.size(2), thread.index, thread.count);
      for (auto z = points.begin[2] + share.begin; z < points.begin[2] + share.end; ++z) {
        view.load(points, z, plane);
        for (GlobalIndex y = points.begin[1]; y < points.end[1]; ++y) {
          const std::size_t first = copy.layout().index(points.begin[0], y, z);
          const auto copy_row = [&](const double* row, double* to) {
            std::copy_n(row + points.begin[0], points.size(0), to + first);
          };
          for (std::size_t d = 0; d < 3; ++d) copy_row(plane.before(d, y), copy.before(d));
          if (plane.has_excess) copy_row(plane.excess(y), copy.excess());
        }
      }
    });
    return copy;
  }

  /// From the ranks that `finer` names to those of `cuts`, with a halo.
  GridCouplings collective_with_halo(GridCouplings from, const LevelCuts& finer,
                                     const LevelCuts& cuts, const GridBox& grid, int depth) {
    if (communicator_.size() == 1) return from;
    const LevelCuts from_cuts = finer.with_end();
    const LevelCuts to_cuts = cuts.with_end();
    const GridBox all = GridCouplings::with_end(grid);
    const int rank = communicator_.rank();
    GridBox points;
    if (to_cuts.has_place(rank)) points = spmv::grown(to_cuts.box(rank), depth + 1, all);
    for (auto& end : points.end) --end;
    if (points.is_empty()) points = {};
    GridCouplings to(points);
    const auto move = [&](double* values, double* target) {
      BoxExchange<double> exchange(communicator_, all, {from_cuts, 0, from.layout(), values},
                                   {to_cuts, depth + 1, to.layout(), target}, team_.thread_count());
      communicator_.barrier();  // both ends of every pair exist
      team_.run([&](const TeamThread& thread) {
        exchange.collective_exchange(thread, crew_.comm_thread());
      });
    };
    for (std::size_t d = 0; d < 3; ++d) move(from.before(d), to.before(d));
    move(from.excess(), to.excess());
    return to;
  }

  /// Directions with more than one point whose mean coupling is at least `least_coupling` of the
  /// strongest.
  void collective_choose_directions(const CouplingView& couplings, const GridBox& own,
                                    GridLevel& level) {
    means_ = collective_mean_logarithms(crew_, couplings, own);
    const double least = std::ranges::max(means_) + std::log2(least_coupling);
    for (std::size_t d = 0; d < 3; ++d)
      level.is_coarsened[d] = level.directions[d].size > 1 && means_[d] >= least;
  }

  /// ‖A⁻¹‖ of a constant operator with the mean couplings, or 1 / the least diagonal.
  double collective_inverse_norm(double least, const GridLevel& level) const {
    least = std::max(communicator_.min(least), least_value);
    double smooth = 0;  // of the smoothest error
    for (std::size_t d = 0; d < 3; ++d) {
      if (means_[d] == 0) continue;
      const double angle = std::numbers::pi / static_cast<double>(level.directions[d].size + 1);
      smooth += std::exp2(means_[d] - 1023) * (2 - 2 * std::cos(angle));
    }
    return std::max(1 / least, smooth > 0 ? 1 / smooth : 0) / level.scale;
  }

  comm_thread::Crew crew_;
  const comm_thread::Communicator& communicator_;
  const comm_thread::ComputeTeam& team_;
  const CycleOptions& options_;
  std::array<double, 3> means_{};  // of the logarithms of couplings
};

}  // namespace

template <class Value>
GridPlan<Value> collective_plan_varying(const comm_thread::Crew& crew,
                                        const spmv::GridPartition& partition,
                                        const CouplingView& own,
                                        const std::array<bool, 3>& has_boundary,
                                        const CycleOptions& options) {
  return Planner<Value>(crew, options).collective_make(partition, own, has_boundary);
}

CycleOptions with_varying_steps(CycleOptions options) {
  if (options.steps == 0)
    options.steps = varying_steps;
  else if (options.finest_steps == 0)
    options.finest_steps = options.steps;
  return options;
}

CycleOptions collective_with_finest_steps(const comm_thread::Crew& crew, const CouplingView& own,
                                          CycleOptions options) {
  if (options.finest_steps > 0) return options;
  options.finest_steps = steps_for(collective_rough_share(crew, own, own.points));
  return options;
}

template GridPlan<float> collective_plan_varying(const comm_thread::Crew&,
                                                 const spmv::GridPartition&, const CouplingView&,
                                                 const std::array<bool, 3>&, const CycleOptions&);
template GridPlan<double> collective_plan_varying(const comm_thread::Crew&,
                                                  const spmv::GridPartition&, const CouplingView&,
                                                  const std::array<bool, 3>&, const CycleOptions&);

}  // namespace weft::solver
