#include "solver/multigrid/varying_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "solver/multigrid/couplings/boundary.h"
#include "solver/multigrid/couplings/coarsening.h"
#include "solver/multigrid/couplings/roughness.h"
#include "solver/multigrid/grids/box_exchange.h"
#include "solver/multigrid/passes/grid_pass.h"
#include "spmv/grid/shares.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;

/// Of the messages: GridCycle counts its own from 2000.
constexpr int first_plan_tag = 3000;

/// Couplings below this much of the largest are none, and diagonals are at least so large: single
/// precision holds them and their inverses.
constexpr double least_value = 1e-30;

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
  Planner(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
          const comm_thread::ComputeTeam& team, const CycleOptions& options)
      : communicator_(communicator), comm_thread_(comm_thread), team_(team), options_(options) {}

  GridPlan<Value> collective_make(const spmv::GridPartition& partition, GridCouplings own,
                                  const std::array<bool, 3>& has_boundary) {
    GridPlan<Value> plan;
    GridBox grid = partition.domain();
    LevelCuts finer(partition);
    GridCouplings couplings = std::move(own);
    const double scale = collective_divide_by_largest(couplings);
    while (true) {
      const bool is_finest = plan.levels.empty();
      const bool is_last = !is_finest && grid.point_count() <= coarsest_points;
      const int steps = options_.steps_on(plan.levels.size());
      const int pass_depth = DownPass<Value>::depth(steps);
      // Each of three directions takes what it needs of the weights around it.
      const int depth = std::max(pass_depth, steps + 4);
      LevelPlan<Value> level{.grid = {},
                             .cuts = planned_cuts(finer, is_finest, is_last, options_.least_points),
                             .finer_cuts = finer,
                             .couplings = nullptr,
                             .coarsest = nullptr};
      for (std::size_t d = 0; d < 3; ++d) level.grid.directions[d].size = grid.end[d];
      if (is_finest) level.grid.scale = scale;
      couplings = collective_with_halo(std::move(couplings), finer, level.cuts, grid, depth);
      if (is_last) {
        if (!level.cuts.box(communicator_.rank()).is_empty())
          level.coarsest = std::make_unique<GridCouplings>(std::move(couplings));
        plan.levels.push_back(std::move(level));
        return plan;
      }
      if (is_finest) give_excess_to_boundary(team_, couplings, grid, has_boundary);
      const GridBox own_points = level.cuts.box(communicator_.rank());
      collective_choose_directions(couplings, own_points, level.grid);
      if (is_finest) plan.inverse_norm = collective_inverse_norm(couplings, own_points, level.grid);
      level.couplings = std::make_unique<LevelCouplings<Value>>();
      narrow(couplings, own_points.is_empty() ? GridBox{} : grown(own_points, pass_depth, grid),
             *level.couplings);
      for (std::size_t d = 0; d < 3; ++d) {
        if (!level.grid.is_coarsened[d]) continue;
        couplings = coarsen(couplings, grid, d, level.couplings->weights[d]);
        grid.end[d] /= 2;
      }
      finer = level.cuts.coarse(level.grid.is_coarsened);
      plan.levels.push_back(std::move(level));
    }
  }

 private:
  double collective_divide_by_largest(GridCouplings& couplings) const {
    const auto count = static_cast<std::int64_t>(couplings.layout().element_count());
    const std::array<double*, 4> arrays{couplings.before(0), couplings.before(1),
                                        couplings.before(2), couplings.excess()};
    std::vector<double> largest(static_cast<std::size_t>(team_.thread_count()));
    team_.run([&](const TeamThread& thread) {
      const auto [begin, end] = comm_thread::share_of(count, thread.index, thread.count);
      double most = 0;
      for (const double* const values : arrays)
        for (auto i = begin; i < end; ++i) most = std::max(most, values[i]);
      largest[static_cast<std::size_t>(thread.index)] = most;
    });
    const double scale = communicator_.max(*std::ranges::max_element(largest));
    const double inverse = 1 / scale;
    team_.run([&](const TeamThread& thread) {
      const auto [begin, end] = comm_thread::share_of(count, thread.index, thread.count);
      for (double* const values : arrays)
        for (auto i = begin; i < end; ++i) values[i] *= inverse;
    });
    return scale;
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
                                   {to_cuts, depth + 1, to.layout(), target}, team_.thread_count(),
                                   first_plan_tag + tags_++);
      communicator_.barrier();  // both ends of every pair exist
      team_.run([&](const TeamThread& thread) {
        exchange.pack(thread.index);
        exchange.copy_own(thread);
        thread.barrier();
        if (thread.is_primary() && !exchange.messages().is_empty())
          exchange.messages().post(comm_thread_).wait();
        thread.barrier();
        exchange.unpack(thread);
      });
    };
    for (std::size_t d = 0; d < 3; ++d) move(from.before(d), to.before(d));
    move(from.excess(), to.excess());
    return to;
  }

  /// Sums f(element) over the rows of `box`, each thread's part on its own.
  template <class Sum, class Row>
  std::vector<Sum> sums_of_threads(const GridBox& box, const Row& row) const {
    std::vector<Sum> sums(static_cast<std::size_t>(team_.thread_count()));
    team_.run([&](const TeamThread& thread) {
      Sum sum{};
      for (const GridBox& part : spmv::share_of_rows(box, thread.index, thread.count))
        for (GlobalIndex z = part.begin[2]; z < part.end[2]; ++z)
          for (GlobalIndex y = part.begin[1]; y < part.end[1]; ++y) row(y, z, sum);
      sums[static_cast<std::size_t>(thread.index)] = sum;
    });
    return sums;
  }

  /// Directions with more than one point whose mean coupling is at least `least_coupling` of the
  /// strongest.
  void collective_choose_directions(const GridCouplings& couplings, const GridBox& own,
                                    GridLevel& level) {
    means_ = collective_mean_logarithms(communicator_, team_, couplings, own);
    const double least = std::ranges::max(means_) + std::log2(least_coupling);
    for (std::size_t d = 0; d < 3; ++d)
      level.is_coarsened[d] = level.directions[d].size > 1 && means_[d] >= least;
  }

  /// ‖A⁻¹‖ of a constant operator with the mean couplings, or 1 / the least diagonal.
  double collective_inverse_norm(const GridCouplings& couplings, const GridBox& own,
                                 const GridLevel& level) const {
    double least = 1;
    for (const double value :
         sums_of_threads<double>(own, [&](GlobalIndex y, GlobalIndex z, double& smallest) {
           const std::size_t first = couplings.layout().index(own.begin[0], y, z);
           for (std::size_t i = first; i < first + static_cast<std::size_t>(own.size(0)); ++i) {
             const double diagonal = couplings.diagonal(i);
             if (smallest == 0 || diagonal < smallest) smallest = diagonal;
           }
         }))
      if (value > 0) least = std::min(least, value);
    least = std::max(communicator_.min(least), least_value);
    double smooth = 0;  // of the smoothest error
    for (std::size_t d = 0; d < 3; ++d) {
      if (means_[d] == 0) continue;
      const double angle = std::numbers::pi / static_cast<double>(level.directions[d].size + 1);
      smooth += std::exp2(means_[d] - 1023) * (2 - 2 * std::cos(angle));
    }
    return std::max(1 / least, smooth > 0 ? 1 / smooth : 0) / level.scale;
  }

  /// What the passes read.
  void narrow(const GridCouplings& couplings, const GridBox& points,
              LevelCouplings<Value>& out) const {
    const GridBox ends = GridCouplings::with_end(points);
    for (GridArray<Value>& array : out.before) array = GridArray<Value>(ends, 0);
    out.inverse_diagonal = GridArray<Value>(points, 0);
    team_.run([&](const TeamThread& thread) {
      for (const GridBox& part : spmv::share_of_rows(ends, thread.index, thread.count))
        for (GlobalIndex z = part.begin[2]; z < part.end[2]; ++z)
          for (GlobalIndex y = part.begin[1]; y < part.end[1]; ++y) {
            const std::size_t first = couplings.layout().index(ends.begin[0], y, z);
            for (std::size_t d = 0; d < 3; ++d) {
              const double* const from = couplings.before(d) + first;
              Value* const to = out.before[d].row(y, z) + ends.begin[0];
              for (GlobalIndex x = 0; x < ends.size(0); ++x)
                to[x] = from[x] < least_value ? 0 : static_cast<Value>(from[x]);
            }
            if (y == points.end[1] || z == points.end[2]) continue;
            Value* const inverse = out.inverse_diagonal.row(y, z) + points.begin[0];
            for (GlobalIndex x = 0; x < points.size(0); ++x)
              inverse[x] = static_cast<Value>(
                  1 /
                  std::max(couplings.diagonal(first + static_cast<std::size_t>(x)), least_value));
          }
    });
  }

  GridCouplings coarsen(const GridCouplings& couplings, const GridBox& grid, std::size_t d,
                        GridArray<Value>& array) const {
    const GridBox box = weights_box(couplings, d);
    array = GridArray<Value>(box, 1);
    return coarsened<Value>(
        team_, couplings, grid, d,
        {box, array.row(0, 0), array.layout().row_stride(), array.layout().plane_stride()});
  }

  const comm_thread::Communicator& communicator_;
  comm_thread::CommThread& comm_thread_;
  const comm_thread::ComputeTeam& team_;
  const CycleOptions& options_;
  int tags_ = 0;  // the same on all ranks
  std::array<double, 3> means_{};  // of the logarithms of couplings
};

}  // namespace

template <class Value>
GridPlan<Value> collective_plan_varying(const comm_thread::Communicator& communicator,
                                        comm_thread::CommThread& comm_thread,
                                        const comm_thread::ComputeTeam& team,
                                        const spmv::GridPartition& partition, GridCouplings own,
                                        const std::array<bool, 3>& has_boundary,
                                        const CycleOptions& options) {
  return Planner<Value>(communicator, comm_thread, team, options)
      .collective_make(partition, std::move(own), has_boundary);
}

CycleOptions with_varying_steps(CycleOptions options) {
  if (options.steps == 0)
    options.steps = varying_steps;
  else if (options.finest_steps == 0)
    options.finest_steps = options.steps;
  return options;
}

CycleOptions collective_with_finest_steps(const comm_thread::Communicator& communicator,
                                          const comm_thread::ComputeTeam& team,
                                          const GridCouplings& own, CycleOptions options) {
  if (options.finest_steps > 0) return options;
  options.finest_steps = steps_for(collective_rough_share(communicator, team, own, own.points()));
  return options;
}

template GridPlan<float> collective_plan_varying(const comm_thread::Communicator&,
                                                 comm_thread::CommThread&,
                                                 const comm_thread::ComputeTeam&,
                                                 const spmv::GridPartition&, GridCouplings,
                                                 const std::array<bool, 3>&, const CycleOptions&);
template GridPlan<double> collective_plan_varying(const comm_thread::Communicator&,
                                                  comm_thread::CommThread&,
                                                  const comm_thread::ComputeTeam&,
                                                  const spmv::GridPartition&, GridCouplings,
                                                  const std::array<bool, 3>&, const CycleOptions&);

}  // namespace weft::solver
