#include "solver/eigen/chebyshev_filter.h"

#include <algorithm>
#include <cmath>

#include "perfmodel/simd.h"
#include "spmv/matrix/block_product.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;

/// next = factor·(product − center·last) + of_before·before. Reads 24 and writes 8 bytes a value.
void step(const double* product, const double* last, const double* before, double center,
          double factor, double of_before, std::int64_t count, double* next) {
  perfmodel::on_widest_simd([=]() __attribute__((always_inline)) {
    if (of_before == 0)
      for (std::int64_t i = 0; i < count; ++i) next[i] = factor * (product[i] - center * last[i]);
    else
      for (std::int64_t i = 0; i < count; ++i)
        next[i] = factor * (product[i] - center * last[i]) + of_before * before[i];
  });
}

}  // namespace

FilterPolynomial FilterPolynomial::damping(double damped_begin, double damped_end, double edge,
                                           int degree) {
  FilterPolynomial filter{.center = damped_begin + (damped_end - damped_begin) / 2,
                          .half = (damped_end - damped_begin) / 2,
                          .sign = 1,
                          .degree = degree,
                          .factor = 1};
  filter.sign = edge < filter.center ? -1 : 1;
  const double at_edge = std::max(1.0, std::abs(edge - filter.center) / filter.half);
  filter.factor = 1 / std::cosh(degree * std::acosh(at_edge));
  return filter;
}

PanelFilter::PanelFilter(spmv::SparseOperator& op, int width, spmv::Mode mode)
    : op_(op),
      width_(width),
      mode_(mode),
      even_(op.collective_make_vector(width)),
      odd_(op.collective_make_vector(width)) {
  const std::size_t threads = width == 1 ? 1 : static_cast<std::size_t>(op.team().thread_count());
  const std::size_t rows =
      width == 1 ? op.element_count() : static_cast<std::size_t>(spmv::BlockProduct::piece_rows);
  for (std::size_t thread = 0; thread < threads; ++thread)
    rooms_.emplace_back(rows * static_cast<std::size_t>(width));
}

/// Calls `on_rows` for pieces of A·x in the rows of this thread.
void PanelFilter::collective_multiply(const TeamThread& thread, Vector& x,
                                      const spmv::OnBlockRows& on_rows) {
  if (width_ > 1)
    return op_.apply_block(thread, mode_, x,
                           {rooms_[static_cast<std::size_t>(thread.index)].data(), true}, on_rows,
                           timer_);
  double* const product = rooms_.front().data();
  op_.apply(thread, mode_, x, product, timer_, {});
  op_.for_each_segment(thread.index, [&](std::size_t begin, std::int64_t count) {
    const auto first = static_cast<spmv::LocalIndex>(begin);
    on_rows(thread, {.begin = first,
                     .end = first + static_cast<spmv::LocalIndex>(count),
                     .y = product + begin,
                     .ended = nullptr});
  });
}

void PanelFilter::collective_apply(const FilterPolynomial& polynomial, const double* x, double* y) {
  op_.team().run([&](const TeamThread& thread) { collective_apply(thread, polynomial, x, y); });
}

void PanelFilter::collective_apply(const TeamThread& thread, const FilterPolynomial& polynomial,
                                   const double* x, double* y) {
  if (thread.is_primary()) product_count_ += std::int64_t{polynomial.degree} * width_;
  op_.for_each_segment(thread.index, [&](std::size_t begin, std::int64_t count) {
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(begin) * width_;
    std::copy_n(x + first, count * width_, even_->values() + first);
  });
  for (int k = 1; k <= polynomial.degree; ++k) {
    Vector& last = k % 2 == 1 ? *even_ : *odd_;
    Vector& other = k % 2 == 1 ? *odd_ : *even_;
    const bool is_end = k == polynomial.degree;
    const double scale = is_end ? polynomial.factor : 1;
    const double factor = scale * polynomial.sign * (k == 1 ? 1 : 2) / polynomial.half;
    const double of_before = k == 1 ? 0 : -scale;
    double* const next = is_end ? y : other.values();
    const auto on_rows = [&](const TeamThread&, const spmv::BlockRows& rows) {
      const std::ptrdiff_t first = std::ptrdiff_t{rows.begin} * width_;
      step(rows.y, last.values() + first, other.values() + first, polynomial.center, factor,
           of_before, std::int64_t{rows.end - rows.begin} * width_, next + first);
    };
    collective_multiply(thread, last, std::cref(on_rows));
    thread.barrier();
  }
}

}  // namespace weft::solver
