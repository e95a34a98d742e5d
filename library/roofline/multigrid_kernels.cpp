#include "library/roofline/multigrid_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "library/roofline/sum_operations.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/level_plan.h"
#include "solver/multigrid/passes/finest_residual.h"
#include "solver/multigrid/passes/grid_pass.h"
#include "solver/multigrid/passes/pass_model.h"
#include "solver/multigrid/passes/restriction.h"
#include "solver/multigrid/passes/tiles.h"
#include "spmv/grid/shares.h"

namespace weft::library {
namespace {

using comm_thread::TeamThread;
using perfmodel::Operations;
using solver::GridLevel;
using DownPass = solver::DownPass<float>;
using GridArray = solver::GridArray<float>;
using UpPass = solver::UpPass<float>;
using spmv::GridBox;

constexpr int steps = 2;

/// The neighbours of a point of floats, added up.
Operations neighbour_operations(const GridLevel& level) {
  return level.has_corners ? Operations{.loads = 4, .shifted_loads = 9, .additions = 12.5}
                           : Operations{.loads = 2, .shifted_loads = 1, .additions = 2.5};
}

/// Both first steps of smoothing from zero; f and its neighbours, by two weights.
Operations start_operations(const GridLevel& level) {
  return neighbour_operations(level) +
         Operations{.loads = 0.5, .stores = 0.5, .additions = 0.5, .multiplications = 1};
}

/// The residual in double, stored as floats, and its square.
Operations finest_operations(const GridLevel& level) {
  return 2 * neighbour_operations(level) +
         Operations{.loads = 2, .stores = 0.5, .additions = 2, .multiplications = 3, .shuffles = 1};
}

/// The residual of floats, and its restriction: every second row is a sum of three, and of that a
/// quarter of the points, one and a half times each, a sum of three along x.
Operations restriction_operations(const GridLevel& level) {
  const Operations rows{.loads = 0.75, .stores = 0.25, .additions = 0.5, .multiplications = 0.75};
  const Operations points{.loads = 0.7, .stores = 0.2, .additions = 0.5, .multiplications = 0.7};
  return neighbour_operations(level) +
         Operations{.loads = 1, .stores = 0.5, .additions = 1, .multiplications = 0.5} + rows +
         points;
}

/// Coarse rows, of which half are a sum of two and a quarter a sum of four; pairs of points from
/// each of their entries, put between each other.
Operations interpolation_operations() {
  const Operations rows{.loads = 0.5, .stores = 0.2, .additions = 0.3, .multiplications = 0.6};
  return rows +
         Operations{
             .loads = 1, .stores = 0.5, .additions = 0.75, .multiplications = 0.25, .shuffles = 1};
}

/// A step of smoothing. `has_before`: with the result of the step before.
Operations smoothing_operations(const GridLevel& level, bool has_before) {
  const Operations step{.loads = 1, .stores = 0.5, .additions = 1, .multiplications = 1};
  const Operations before{.loads = 0.5, .additions = 0.5, .multiplications = 0.5};
  return neighbour_operations(level) + step + (has_before ? 1.0 : 0.0) * before;
}

/// The direction as floats, x in double.
constexpr Operations delivery_operations{
    .loads = 2, .stores = 1.5, .additions = 1.5, .multiplications = 2, .shuffles = 1};

double accesses(const Operations& of) { return of.loads + of.shifted_loads + of.stores; }

/// A loop that goes over a plane: what it does for a point, and the bytes that it moves.
struct PlaneLoop {
  Operations operations;
  double memory_bytes = 0;
};

/// Loads and stores are most of what the loops do: by their count a pass down spends 0.45 of its
/// time in the residual, 0.21 and 0.34 in smoothing and restriction, and 0.45, 0.23 and 0.32 as
/// measured in cache.
std::vector<perfmodel::LoopShare> shares_of(std::initializer_list<PlaneLoop> loops) {
  PlaneLoop all;
  for (const PlaneLoop& loop : loops) {
    all.operations += loop.operations;
    all.memory_bytes += loop.memory_bytes;
  }
  std::vector<perfmodel::LoopShare> shares;
  for (const PlaneLoop& loop : loops)
    shares.push_back({.cores = accesses(loop.operations) / accesses(all.operations),
                      .memory = loop.memory_bytes / all.memory_bytes});
  return shares;
}

/// A grid whose arrays and planes fit into a second-level cache of 1 MiB. Its rows are as long as
/// those of `grid`, as far as that goes, because each costs its own beginning and end: a pass down
/// takes half as long again per point in rows of 64 points as in rows of 192.
spmv::GridSize size_in_cache(const spmv::GridSize& grid) {
  constexpr std::int64_t longest = 192;
  return {std::min(grid.x, longest), 12, 12};
}

}  // namespace

/// All that the passes read and write, of a box of a grid.
struct MultigridKernels::Arrays {
  using Values = perfmodel::HugePageBuffer<double>;

  Arrays(const spmv::GridStencil& of, const GridBox& box, int thread_count)
      : stencil(of),
        levels(solver::grid_levels(of, solver::coarsest_points)),
        own(box),
        layout(own, DownPass::depth(steps) + 1),
        b(layout.element_count()),
        x(layout.element_count()),
        f(own, DownPass::depth(steps)),
        direction(own, 1),
        coarse_f(solver::coarse_points(levels[0], own), 1),
        coarse_e(solver::coarse_points(levels[0], own), steps),
        residual{stencil, layout, b.data(), x.data(), levels[0].scale},
        down(levels[0], levels[1], steps),
        up(levels[0], steps),
        memories(static_cast<std::size_t>(thread_count)) {
    const GridBox points = grown(own, steps, levels[0].points());
    down_tiles = solver::cut_into_tiles(points, own, points, points, steps + 2, thread_count);
    up_tiles = solver::cut_into_tiles(own, own, own, own, steps + 1, thread_count);
  }

  void fill(int thread, int thread_count) {
    for (const GridBox& share : spmv::share_of_rows(own, thread, thread_count)) {
      layout.fill(b.data(), share, 1);
      layout.fill(x.data(), share, 1);
    }
  }
  double point_count() const { return static_cast<double>(own.point_count()); }
  double coarse_share() const {
    return static_cast<double>(solver::coarse_points(levels[0], own).point_count()) / point_count();
  }
  double neighbour_count() const { return levels[0].has_corners ? 26 : 6; }
  /// All that is given is for a point.
  perfmodel::Traffic traffic(double bytes, double written, double flops) const {
    return {(bytes - written) * point_count(), written * point_count(), flops * point_count()};
  }

  DownPass::Source source(spmv::CloseSum* square) {
    return {.residual = &residual, .copy = &f, .square = square};
  }
  UpPass::Sink sink() {
    return {
        .layout = &layout, .values = x.data(), .direction = &direction, .old = 0.1, .fresh = 1e-12};
  }
  void run_down(std::size_t thread) {
    spmv::CloseSum square(64 * point_count());
    for (const solver::PassTile& tile : down_tiles.interior[thread])
      down.run(tile, source(&square), smoothed, coarse_f, memories[thread], {});
    finish(square);
  }
  void run_up(std::size_t thread) {
    for (const solver::PassTile& tile : up_tiles.interior[thread])
      up.run(tile, f, smoothed, coarse_e, sink(), memories[thread], {});
  }

  spmv::GridStencil stencil;
  std::vector<GridLevel> levels;
  GridBox own;
  spmv::GridLayout layout;
  Values b;
  Values x;
  GridArray f;
  GridArray smoothed;  // empty: the way up computes it again
  GridArray direction;
  GridArray coarse_f;
  GridArray coarse_e;
  solver::FinestResidual residual;
  DownPass down;
  UpPass up;
  solver::PassTiles down_tiles;
  solver::PassTiles up_tiles;
  std::vector<solver::PassMemory<float>> memories;  // [threads]
};

MultigridKernels::MultigridKernels(comm_thread::Job& job, const spmv::Problem& problem)
    : op_(job.comm_thread_world(), job.comm_thread(), job.team(), spmv::GridStencil::of(problem)),
      in_cache_(static_cast<std::size_t>(job.team().thread_count())) {
  const int threads = job.team().thread_count();
  arrays_ = std::make_shared<Arrays>(op_.stencil(), op_.layout().own(), threads);
  spmv::GridStencil few = op_.stencil();
  few.grid = size_in_cache(few.grid);
  job.team().run([&](const TeamThread& thread) {
    arrays_->fill(thread.index, thread.count);
    auto& own = in_cache_[static_cast<std::size_t>(thread.index)];
    own =
        std::make_shared<Arrays>(few, GridBox{{0, 0, 0}, {few.grid.x, few.grid.y, few.grid.z}}, 1);
    own->fill(0, 1);
  });
}

MultigridKernels::~MultigridKernels() = default;

RooflineKernel MultigridKernels::kernel(std::string name, std::string what,
                                        void (Arrays::*pass)(std::size_t thread)) const {
  RooflineKernel kernel;
  kernel.name = std::move(name);
  kernel.what = std::move(what);
  kernel.run = [all = arrays_, pass](const TeamThread& thread) {
    ((*all).*pass)(static_cast<std::size_t>(thread.index));
  };
  kernel.run_in_cache = [all = arrays_, few = in_cache_, pass](const TeamThread& thread) {
    Arrays& own = *few[static_cast<std::size_t>(thread.index)];
    double done = 0;
    for (; done < elements_in_cache; done += own.point_count()) (own.*pass)(0);
    return done / (all->point_count() / thread.count);
  };
  return kernel;
}

RooflineKernel MultigridKernels::down() const {
  Arrays& all = *arrays_;
  const double points = all.point_count();
  const double coarse = all.coarse_share();
  const double neighbours = all.neighbour_count();
  RooflineKernel down =
      kernel("multigrid-down", "residual, smoothing, restriction", &Arrays::run_down);
  // Residual, two steps of which the first is pointwise, residual again, restriction.
  const double bytes = solver::bytes_of_down_pass<float>(all.source(nullptr), coarse, false);
  down.memory = all.traffic(bytes, 4 + 4 * coarse,
                            (2 * neighbours + 1) + 1 + (neighbours + 3) + (neighbours + 2) + 5);
  down.data_bytes = points * (20 + 4 * coarse);
  // A float counts as half a double; two prefetches for eight points.
  const Operations residual = finest_operations(all.levels[0]) + close_sum;
  const Operations start = start_operations(all.levels[0]);
  const Operations restriction = restriction_operations(all.levels[0]);
  down.loops = shares_of({{residual, bytes - 8 * coarse}, {start, 0}, {restriction, 8 * coarse}});
  down.core = {.element = "point",
               .count = points,
               .vectors = residual + start + restriction,
               .scalars = {.loads = 2.0 / 8},
               .chain = chain_of_sum()};
  return down;
}

RooflineKernel MultigridKernels::up() const {
  Arrays& all = *arrays_;
  const double points = all.point_count();
  const double coarse = all.coarse_share();
  const double neighbours = all.neighbour_count();
  RooflineKernel up =
      kernel("multigrid-up", "interpolation, smoothing, x and its direction", &Arrays::run_up);
  const double bytes = solver::bytes_of_up_pass<float>(all.sink(), coarse, false);
  up.memory =
      all.traffic(bytes, 12, (neighbours + 1) + 3.5 + (neighbours + 3) + (neighbours + 5) + 4);
  up.data_bytes = points * (16 + 4 * coarse);
  const Operations correction = start_operations(all.levels[0]) + interpolation_operations();
  const Operations first = smoothing_operations(all.levels[0], false);
  const Operations last = smoothing_operations(all.levels[0], true) + delivery_operations;
  const double corrected_bytes = 4 + 4 * coarse;  // f and the coarse solution
  up.loops =
      shares_of({{correction, corrected_bytes}, {first, 0}, {last, bytes - corrected_bytes}});
  up.core = {.element = "point",
             .count = points,
             .vectors = correction + first + last,
             .scalars = {.loads = 5.0 / 16}};
  return up;
}

std::vector<RooflineKernel> MultigridKernels::kernels() const { return {down(), up()}; }

}  // namespace weft::library
