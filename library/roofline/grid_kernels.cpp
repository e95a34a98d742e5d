#include "library/roofline/grid_kernels.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/engine/exact_accumulator.h"
#include "library/roofline/sum_operations.h"
#include "spmv/grid/average_sweep.h"
#include "spmv/grid/stencil_product.h"
#include "spmv/grid/stencil_wavefront.h"

namespace weft::library {
namespace {

using comm_thread::TeamThread;
using perfmodel::Operations;
using spmv::CloseSum;
using spmv::GlobalIndex;
using spmv::GridBox;
using spmv::GridLayout;

/// Planes of `own` that are the share of a thread; rows if planes are few.
GridBox slab_of(const GridBox& own, int index, int count) {
  const std::size_t direction = own.size(2) >= count ? 2 : 1;
  const auto share = comm_thread::share_of(own.size(direction), index, count);
  GridBox slab = own;
  slab.begin[direction] = own.begin[direction] + share.begin;
  slab.end[direction] = own.begin[direction] + share.end;
  return slab;
}

/// A box of long rows, as many as fit with their ghost points.
GridBox box_in_cache(const GridBox& like, double points) {
  const auto length = std::min<GlobalIndex>(like.size(0), 128);
  const double rows = points / static_cast<double>(length + 16);
  const auto side = std::max<GlobalIndex>(1, static_cast<GlobalIndex>(std::sqrt(rows)) - 2);
  return {{0, 0, 0}, {length, side, side}};
}

/// A·u at a point. Rows begin at lines, so that only the neighbours in x are shifted.
Operations product_operations(const spmv::GridStencil& stencil) {
  if (stencil.has_corners)
    return {.loads = 9, .shifted_loads = 18, .additions = 26, .multiplications = 1};
  return {.loads = 5,
          .shifted_loads = 2,
          .additions = 6,
          .multiplications = stencil.has_unit_weights() ? 1.0 : 7.0};
}

/// The half of it that u·(A·u) needs, beside u and the point before.
Operations half_operations(const spmv::GridStencil& stencil) {
  if (stencil.has_corners)
    return {.loads = 4, .shifted_loads = 8, .additions = 13, .multiplications = 2};
  return {.loads = 2, .additions = 3, .multiplications = stencil.has_unit_weights() ? 2.0 : 5.0};
}

/// The mean of the neighbours of a point.
constexpr Operations sweep_operations{
    .loads = 4, .shifted_loads = 2, .stores = 1, .additions = 5, .multiplications = 1};

perfmodel::HugePageBuffer<double> filled_array(const comm_thread::ComputeTeam& team,
                                               std::size_t size) {
  perfmodel::HugePageBuffer<double> array(size);
  team.run([&](const TeamThread& thread) {
    const auto mine =
        comm_thread::share_of(static_cast<std::int64_t>(size), thread.index, thread.count);
    std::fill(array.data() + mine.begin, array.data() + mine.end, 1.0);
  });
  return array;
}

}  // namespace

GridKernels::Slab::Slab(const GridBox& box, std::size_t array_count) : layout(box, 1) {
  for (std::size_t i = 0; i < array_count; ++i) {
    arrays.emplace_back(layout.element_count());
    std::fill_n(arrays.back().data(), layout.element_count(), 1.0);
  }
}

GridKernels::GridKernels(comm_thread::Job& job, const spmv::Problem& problem, double l2_bytes)
    : job_(job),
      l2_bytes_(l2_bytes),
      op_(job.comm_thread_world(), job.comm_thread(), job.team(), spmv::GridStencil::of(problem)),
      points_(static_cast<double>(op_.layout().own().point_count())),
      has_sweeps_(problem.kind == spmv::ProblemKind::poisson3d) {}

GridKernels::Slabs GridKernels::make_slabs(std::size_t array_count, bool is_in_cache) {
  Slabs slabs(static_cast<std::size_t>(job_.team().thread_count()));
  job_.team().run([&](const TeamThread& thread) {
    const GridBox& own = op_.layout().own();
    const GridBox box =
        is_in_cache ? box_in_cache(own, l2_bytes_ / 2 / 8 / static_cast<double>(array_count))
                    : slab_of(own, thread.index, thread.count);
    slabs[static_cast<std::size_t>(thread.index)] = std::make_unique<Slab>(box, array_count);
  });
  return slabs;
}

RooflineKernel GridKernels::kernel(std::string name, std::string what, std::size_t array_count,
                                   const Pass& pass) {
  RooflineKernel kernel;
  kernel.name = std::move(name);
  kernel.what = std::move(what);
  kernel.data_bytes = 8 * points_ * static_cast<double>(array_count);
  // Kernels with as many arrays share them.
  auto& shared = slabs_[array_count];
  if (!shared.whole) {
    shared.whole = std::make_shared<const Slabs>(make_slabs(array_count, false));
    shared.in_cache = std::make_shared<const Slabs>(make_slabs(array_count, true));
  }
  const auto slabs = shared.whole;
  const auto in_cache = shared.in_cache;
  kernel.run = [slabs, pass](const TeamThread& thread) {
    pass(*(*slabs)[static_cast<std::size_t>(thread.index)]);
  };
  kernel.run_in_cache = [slabs, in_cache, pass](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    Slab& few = *(*in_cache)[index];
    const double points = static_cast<double>(few.layout.own().point_count());
    const double all = static_cast<double>((*slabs)[index]->layout.own().point_count());
    double done = 0;
    for (; done < elements_in_cache; done += points) pass(few);
    return all > 0 ? done / all : 1;
  };
  return kernel;
}

perfmodel::CoreWork GridKernels::work(const Operations& operations, int prefetches) const {
  perfmodel::CoreWork work{.element = "point",
                           .count = points_,
                           .vectors = operations,
                           .scalars = {.loads = prefetches / 8.0}};
  if (operations.integer_additions > 0) work.chain = chain_of_sum();
  return work;
}

RooflineKernel GridKernels::blocked_sweeps(int height) {
  const int sweeps = 2 * height;
  RooflineKernel kernel;
  kernel.name = "sweep-blocked";
  kernel.what = fmt::format("{} Jacobi sweeps, {} per pass", sweeps, height);
  const double updates = points_ * sweeps;
  // Both arrays are read and written once in `height` sweeps (spmv/grid/time_blocking.h).
  kernel.memory = {16 * updates / height, 16 * updates / height, 6 * updates};
  kernel.cache = {16 * updates, 8 * updates, 0};
  kernel.core = work(sweep_operations, 0);
  kernel.core.count = updates;
  kernel.data_bytes = 16 * points_;
  struct Shared {
    GridLayout layout;
    std::array<Array, 2> arrays;
    std::vector<GridBox> boxes;
  };
  const auto shared = std::make_shared<Shared>(Shared{GridLayout(op_.layout().own(), 1), {}, {}});
  shared->boxes.assign(static_cast<std::size_t>(sweeps), op_.layout().own());
  for (Array& array : shared->arrays)
    array = filled_array(job_.team(), shared->layout.element_count());
  kernel.run = [shared, height](const TeamThread& thread) {
    const std::array<double*, 2> arrays{shared->arrays[0].data(), shared->arrays[1].data()};
    spmv::TimeBlocking(shared->layout, height).sweep(thread, arrays, shared->boxes);
  };
  const auto in_cache = slabs_.at(2).in_cache;  // of the single sweeps
  const double share = updates / job_.team().thread_count();
  kernel.run_in_cache = [in_cache, height, sweeps, share](const TeamThread& thread) {
    Slab& few = *(*in_cache)[static_cast<std::size_t>(thread.index)];
    comm_thread::TeamBarrier nobody(1, comm_thread::WaitPolicy::spin);
    const std::vector<GridBox> boxes(static_cast<std::size_t>(sweeps), few.layout.own());
    const std::array<double*, 2> arrays{few.arrays[0].data(), few.arrays[1].data()};
    double done = 0;
    for (; done < elements_in_cache;
         done += sweeps * static_cast<double>(few.layout.own().point_count()))
      spmv::TimeBlocking(few.layout, height).sweep({0, 1, &nobody}, arrays, boxes);
    return done / share;
  };
  return kernel;
}

std::vector<RooflineKernel> GridKernels::collective_kernels() {
  std::vector<RooflineKernel> all = product_kernels();
  std::ranges::move(cg_kernels(), std::back_inserter(all));
  if (has_sweeps_) std::ranges::move(collective_sweep_kernels(), std::back_inserter(all));
  return all;
}

std::vector<RooflineKernel> GridKernels::product_kernels() {
  const double flops = 2 * op_.stencil().point_count();
  const Operations product = product_operations(op_.stencil());
  std::vector<RooflineKernel> all;
  all.push_back(kernel("grid-product", "y = A x without a matrix", 2, [this](Slab& slab) {
    multiply_stencil(op_.stencil(), slab.layout, slab.arrays[0].data(), slab.arrays[1].data(),
                     slab.layout.own(), {});
  }));
  all.back().memory = {16 * points_, 8 * points_, flops * points_};
  all.back().core = work(product + Operations{.stores = 1}, 2);
  all.push_back(kernel("grid-cg-pass", "CG without a matrix, one pass", 3, [this](Slab& slab) {
    const double bound = 64 * points_;
    CloseSum r_dot_r(bound);
    CloseSum r_dot_ar(bound);
    const GridBox& own = slab.layout.own();
    advance_in_one_pass(op_.stencil(), slab.layout,
                        {.alpha = 1e-12,
                         .beta = 0.5,
                         .r = slab.arrays[0].data(),
                         .p = slab.arrays[1].data(),
                         .x = slab.arrays[2].data(),
                         .direction = own,
                         .update = own,
                         .curvature = own},
                        r_dot_r, r_dot_ar, {});
    finish(r_dot_r);
    finish(r_dot_ar);
  }));
  all.back().memory = {24 * points_, 24 * points_, (1.5 * flops + 8) * points_};
  // r and p of the direction, x and r of the update; p of the update is that of the product.
  const Operations steps{.loads = 4, .stores = 3, .additions = 3, .multiplications = 5};
  // The curvature of a stencil without corners has u at hand, and u before it by a shuffle.
  const Operations before = op_.stencil().has_corners ? Operations{.loads = 1, .shifted_loads = 1}
                                                      : Operations{.shuffles = 1};
  all.back().core =
      work(steps + before + product + half_operations(op_.stencil()) + 2 * close_sum, 3);
  return all;
}

std::vector<RooflineKernel> GridKernels::cg_kernels() {
  const double flops = 2 * op_.stencil().point_count();
  const Operations product = product_operations(op_.stencil());
  std::vector<RooflineKernel> all;
  all.push_back(kernel("grid-cg-direction", "CG without a matrix, first of two passes", 3,
                       [this](Slab& slab) {
                         CloseSum p_dot_ap(64 * points_);
                         const GridBox& own = slab.layout.own();
                         renew_direction_in_one_pass(op_.stencil(), slab.layout,
                                                     {.alpha = 1e-12,
                                                      .beta = 0.5,
                                                      .z = {.r = slab.arrays[0].data()},
                                                      .p = slab.arrays[1].data(),
                                                      .x = slab.arrays[2].data(),
                                                      .direction = own,
                                                      .curvature = own},
                                                     p_dot_ap, {});
                         finish(p_dot_ap);
                       }));
  all.back().memory = {24 * points_, 16 * points_, (flops + 6) * points_};
  all.back().core = work(Operations{.loads = 3, .stores = 2, .additions = 2, .multiplications = 3} +
                             product + close_sum,
                         3);
  all.push_back(kernel("grid-cg-residual", "second of two passes", 2, [this](Slab& slab) {
    CloseSum r_dot_r(64 * points_);
    update_residual(op_.stencil(), slab.layout, 1e-12, slab.arrays[0].data(), slab.arrays[1].data(),
                    slab.layout.own(), r_dot_r);
    finish(r_dot_r);
  }));
  all.back().memory = {16 * points_, 8 * points_, (flops + 4) * points_};
  all.back().core = work(Operations{.loads = 1, .stores = 1, .additions = 1, .multiplications = 2} +
                             product + close_sum,
                         2);
  return all;
}

std::vector<RooflineKernel> GridKernels::collective_sweep_kernels() {
  std::vector<RooflineKernel> all;
  all.push_back(kernel("sweep", "Jacobi sweep", 2, [](Slab& slab) {
    sweep_average(slab.layout, slab.arrays[0].data(), slab.arrays[1].data(), slab.layout.own());
  }));
  all.back().memory = {16 * points_, 8 * points_, 6 * points_};
  all.back().core = work(sweep_operations, 2);
  all.push_back(kernel("sweep-residual", "Jacobi sweep with its residual", 2, [](Slab& slab) {
    comm_thread::ExactAccumulator square;
    sweep_average_with_residual(slab.layout, slab.arrays[0].data(), slab.arrays[1].data(),
                                slab.layout.own(), 64, square);
  }));
  all.back().memory = {16 * points_, 8 * points_, 10 * points_};
  all.back().core = work(
      sweep_operations + Operations{.loads = 1, .additions = 1, .multiplications = 2} + binned_sum,
      2);
  const int height = spmv::TimeBlocking::choose_height(
      op_.layout(), static_cast<std::size_t>(l2_bytes_), job_.team().thread_count());
  // Ranks with other boxes may choose otherwise; all have to run it.
  const auto common = static_cast<int>(job_.world().min(std::int64_t{height}));
  if (common > 1) all.push_back(blocked_sweeps(common));
  return all;
}

}  // namespace weft::library
