#include "library/roofline/vector_kernels.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "library/roofline/sum_operations.h"
#include "solver/krylov/fused_vector_kernels.h"
#include "solver/krylov/one_reduction_cg.h"
#include "solver/krylov/pipelined_cg.h"
#include "solver/krylov/predict_recompute_cg.h"
#include "solver/krylov/reduced_cg_kernels.h"

namespace weft::library {
namespace {

using comm_thread::TeamThread;
using perfmodel::Operations;
using spmv::CloseSum;
using spmv::Segment;

constexpr std::size_t array_count = 7;
/// Small, so that nothing grows however often a kernel runs.
constexpr double alpha = 1e-12;
constexpr double beta = 0.5;

}  // namespace

VectorKernels::VectorKernels(const spmv::LinearOperator& op, double cache_bytes)
    : op_(op), cache_bytes_(cache_bytes), bound_(16 * static_cast<double>(op.global_row_count())) {
  for (std::size_t i = 0; i < array_count; ++i) arrays_.emplace_back(op.element_count());
  op.team().run([&](const TeamThread& thread) {
    for (const Segment& segment : op.segments(thread.index))
      for (auto& array : arrays_) std::fill_n(array.data() + segment.begin, segment.count, 1.0);
  });
  add_textbook_kernels();
  add_one_reduction_kernels();
}

void VectorKernels::add(std::string name, std::string what, const Row& row, const MakePass& pass) {
  double rows = 0;
  for (int thread = 0; thread < op_.team().thread_count(); ++thread)
    for (const Segment& segment : op_.segments(thread)) rows += static_cast<double>(segment.count);
  RooflineKernel kernel;
  kernel.name = std::move(name);
  kernel.what = std::move(what);
  kernel.memory = {8 * rows * row.read_count, 8 * rows * row.written_count, rows * row.flops};
  kernel.data_bytes = 8 * rows * row.read_count;
  kernel.core.count = rows;
  kernel.core.vectors = row.arithmetic;
  kernel.core.vectors.loads = row.read_count;
  kernel.core.vectors.stores = row.written_count;
  if (row.arithmetic.integer_additions > 0) kernel.core.chain = chain_of_sum();
  kernel.run = [this, pass](const TeamThread& thread) {
    pass([&](const OnSegment& on_segment) {
      for (const Segment& segment : op_.segments(thread.index))
        on_segment(segment.begin, segment.count);
    });
  };
  kernel.run_in_cache = [this, pass, read_count = row.read_count](const TeamThread& thread) {
    return run_in_cache(thread, pass, read_count);
  };
  kernels_.push_back(std::move(kernel));
}

/// Does what RooflineKernel::run_in_cache says.
double VectorKernels::run_in_cache(const TeamThread& thread, const MakePass& pass,
                                   int read_count) const {
  const double rows_in_cache = cache_bytes_ / 2 / (8.0 * read_count);
  double all = 0;
  for (const Segment& segment : op_.segments(thread.index))
    all += static_cast<double>(segment.count);
  double done = 0;
  pass([&](const OnSegment& on_segment) {
    while (done < elements_in_cache && all > 0) {
      double in_cache = 0;
      for (const Segment& segment : op_.segments(thread.index)) {
        const double room = rows_in_cache - in_cache;
        if (room < 8) break;
        const auto count = std::min(segment.count, static_cast<std::int64_t>(room));
        on_segment(segment.begin, count);
        in_cache += static_cast<double>(count);
      }
      done += in_cache;
    }
  });
  return all > 0 ? done / all : 1;
}

template <class Sum, std::size_t count, class Work>
void VectorKernels::add(std::string name, std::string what, const Row& row,
                        const std::array<double, count>& bounds, const Work& work) {
  add(std::move(name), std::move(what), row,
      [bounds, work](const std::function<void(const OnSegment&)>& for_each) {
        auto sums = std::apply([](auto... bound) { return std::array{Sum(bound)...}; }, bounds);
        for_each([&](std::size_t i, std::int64_t rows) { work(i, rows, sums); });
        finish(sums[0]);
      });
}

void VectorKernels::add_textbook_kernels() {
  double* const x = array(0);
  double* const r = array(1);
  double* const p = array(2);
  double* const q = array(3);
  add("dot", "a.b", {2, 0, 2, Operations{.multiplications = 1} + close_sum}, std::array{bound_},
      [=](std::size_t i, std::int64_t count, auto& sums) {
        solver::add_product(r + i, q + i, count, sums[0]);
      });
  add<spmv::BinnedSum>("norm", "a.a", {1, 0, 2, Operations{.multiplications = 1} + binned_sum},
                       std::array{bound_}, [=](std::size_t i, std::int64_t count, auto& sums) {
                         solver::add_square(r + i, count, sums[0]);
                       });
  add("cg-residual", "r -= alpha q, r.r",
      {2, 1, 4, Operations{.additions = 1, .multiplications = 2} + close_sum},
      [=, this](const auto& for_each) {
        solver::ResidualSums sums(bound_, bound_);
        for_each([&](std::size_t i, std::int64_t count) {
          solver::update_residual(alpha, q + i, nullptr, r + i, count, sums);
        });
        finish(sums.r_dot_r);
      });
  add("cg-direction", "x += alpha p, p = r + beta p",
      {3, 2, 4, {.additions = 2, .multiplications = 2}}, [=](const auto& for_each) {
        for_each([&](std::size_t i, std::int64_t count) {
          solver::update_solution_and_direction(alpha, beta, r + i, nullptr, x + i, p + i, count);
        });
      });
}

void VectorKernels::add_one_reduction_kernels() {
  double* const x = array(0);
  double* const r = array(1);
  double* const p = array(2);
  double* const q = array(3);
  double* const w = array(4);
  double* const z = array(5);
  double* const n = array(6);
  add(solver::OneReductionCg::facts.name, "p, s, x, u, r.r",
      {5, 4, 10, Operations{.additions = 4, .multiplications = 5} + close_sum},
      std::array{bound_, bound_}, [=](std::size_t i, std::int64_t count, auto& sums) {
        solver::chronopoulos_gear_pass(alpha, beta, {r + i, w + i, p + i, q + i, x + i}, nullptr,
                                       nullptr, count, sums);
      });
  add(solver::PipelinedCg::facts.name, "z, s, p, x, u, w, r.r, w.u",
      {7, 6, 16, Operations{.additions = 6, .multiplications = 8} + 2 * close_sum},
      std::array{bound_, bound_, bound_}, [=](std::size_t i, std::int64_t count, auto& sums) {
        solver::ghysels_vanroose_pass(alpha, beta,
                                      {r + i, w + i, w + i, n + i, p + i, q + i, z + i, x + i},
                                      nullptr, nullptr, count, sums);
      });
  // r.u is r.r without a preconditioner: four sums.
  add(solver::PredictRecomputeCg::facts.name, "x, u, p, t, 5 sums",
      {6, 4, 18, Operations{.additions = 5, .multiplications = 9} + 4 * close_sum},
      std::array{bound_, bound_, 16 * bound_, 16 * bound_, 256 * bound_},
      [=](std::size_t i, std::int64_t count, auto& sums) {
        solver::predict_recompute_pass(alpha, beta, {r + i, w + i, p + i, q + i, n + i, x + i},
                                       nullptr, nullptr, count, sums);
      });
}

}  // namespace weft::library
