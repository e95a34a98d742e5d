#include "tools/roofline/multigrid_kernels.h"

#include <algorithm>
#include <cstddef>

#include "comm_thread/engine/exact_accumulator.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/multigrid/finest_residual.h"
#include "solver/multigrid/grid_level.h"
#include "solver/multigrid/grid_pass.h"
#include "solver/multigrid/pass_model.h"
#include "solver/multigrid/restriction.h"
#include "solver/multigrid/tiles.h"
#include "spmv/grid/shares.h"

namespace weft::tools {
namespace {

using comm_thread::TeamThread;
using solver::DownPass;
using solver::GridArray;
using solver::GridLevel;
using solver::UpPass;
using spmv::GridBox;

constexpr int steps = 2;

/// Of a coarsest grid, as in a solve.
constexpr spmv::GlobalIndex coarsest_points = 1000;

}  // namespace

/// All that the passes read and write.
struct MultigridKernels::Arrays {
  using Values = perfmodel::HugePageBuffer<double>;

  Arrays(const spmv::StencilOperator& op, const comm_thread::ComputeTeam& team)
      : levels(solver::grid_levels(op.stencil(), coarsest_points)),
        own(op.layout().own()),
        layout(own, DownPass::depth(steps) + 1),
        b(layout.element_count()),
        x(layout.element_count()),
        f(own, DownPass::depth(steps)),
        smoothed(own, steps),
        direction(own, 1),
        coarse_f(solver::coarse_points(levels[0], own), 1),
        coarse_e(solver::coarse_points(levels[0], own), steps),
        residual{op.stencil(), layout, b.data(), x.data(), levels[0].scale},
        down(levels[0], levels[1], steps),
        up(levels[0], steps),
        memories(static_cast<std::size_t>(team.thread_count())) {
    const GridBox points = grown(own, steps, levels[0].points());
    down_tiles =
        solver::cut_into_tiles(points, own, points, points, steps + 2, team.thread_count());
    up_tiles = solver::cut_into_tiles(own, own, own, own, steps + 1, team.thread_count());
    team.run([&](const TeamThread& thread) {
      for (const GridBox& box : spmv::share_of_rows(own, thread.index, thread.count)) {
        layout.fill(b.data(), box, 1);
        layout.fill(x.data(), box, 1);
      }
    });
  }

  std::vector<GridLevel> levels;
  GridBox own;
  spmv::GridLayout layout;
  Values b;
  Values x;
  GridArray f;
  GridArray smoothed;
  GridArray direction;
  GridArray coarse_f;
  GridArray coarse_e;
  solver::FinestResidual residual;
  DownPass down;
  UpPass up;
  solver::PassTiles down_tiles;
  solver::PassTiles up_tiles;
  std::vector<solver::PassMemory> memories;  // [threads]
};

MultigridKernels::MultigridKernels(Job& job, const spmv::Problem& problem)
    : op_(job.comm_thread_world(), job.comm_thread(), job.team(), spmv::GridStencil::of(problem)),
      arrays_(std::make_unique<Arrays>(op_, job.team())) {}

MultigridKernels::~MultigridKernels() = default;

std::vector<RooflineKernel> MultigridKernels::kernels() {
  Arrays& all = *arrays_;
  const auto points = static_cast<double>(all.own.point_count());
  const double coarse =
      static_cast<double>(solver::coarse_points(all.levels[0], all.own).point_count()) / points;
  const double neighbours = all.levels[0].has_corners ? 26 : 6;
  const auto traffic = [&](double bytes, double written, double flops) {
    return perfmodel::Traffic{(bytes - written) * points, written * points, flops * points};
  };

  RooflineKernel down;
  down.name = "multigrid-down";
  down.what = "residual, smoothing, restriction";
  const DownPass::Source source{.residual = &all.residual, .copy = &all.f};
  // Residual, two steps of which the first is pointwise, residual again, restriction.
  down.memory = traffic(solver::bytes_of_down_pass(source, coarse), 8 + 4 * coarse,
                        (2 * neighbours + 1) + 1 + (neighbours + 3) + (neighbours + 2) + 5);
  down.data_bytes = points * (24 + 4 * coarse);
  down.run = [&all](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    spmv::CloseSum square(64.0 * static_cast<double>(all.own.point_count()));
    for (const solver::PassTile& tile : all.down_tiles.interior[index])
      all.down.run(tile, {.residual = &all.residual, .copy = &all.f, .square = &square},
                   all.smoothed, all.coarse_f, all.memories[index], {});
    comm_thread::ExactAccumulator total;
    square.flush(total);
  };

  RooflineKernel up;
  up.name = "multigrid-up";
  up.what = "interpolation, smoothing, x and its direction";
  const UpPass::Sink sink{.layout = &all.layout,
                          .values = all.x.data(),
                          .direction = &all.direction,
                          .old = 0.1,
                          .fresh = 1e-12};
  up.memory = traffic(solver::bytes_of_up_pass(sink, coarse), 12,
                      3.5 + (neighbours + 3) + (neighbours + 5) + 4);
  up.data_bytes = points * (20 + 4 * coarse);
  up.run = [&all, sink](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    for (const solver::PassTile& tile : all.up_tiles.interior[index])
      all.up.run(tile, all.f, all.smoothed, all.coarse_e, sink, all.memories[index], {});
  };
  return {down, up};
}

}  // namespace weft::tools
