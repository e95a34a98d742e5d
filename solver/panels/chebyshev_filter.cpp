#include "solver/panels/chebyshev_filter.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

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

/// The same with of_before = −1 and in the place of what was before; and sum += of_last·last +
/// of_next·next. Reads 32 and writes 16 bytes a value.
void step_and_add(const double* product, const double* last, double center, double factor,
                  double of_last, double of_next, std::int64_t count, double* next, double* sum) {
  perfmodel::on_widest_simd([=]() __attribute__((always_inline)) {
    for (std::int64_t i = 0; i < count; ++i) {
      const double made = factor * (product[i] - center * last[i]) - next[i];
      next[i] = made;
      sum[i] += of_last * last[i] + of_next * made;
    }
  });
}

}  // namespace

FilterSeries FilterSeries::peak(double center, double half, double place, int degree) {
  FilterSeries series{.center = center, .half = half, .coefficients = {}};
  const double angle = std::acos(std::clamp((place - center) / half, -1.0, 1.0));
  for (int k = 0; k <= degree; ++k)
    series.coefficients.push_back((k == 0 ? 0.5 : 1.0) * std::cos(k * angle));
  const double most = series.value(series.center + series.half * std::cos(angle));
  for (double& coefficient : series.coefficients) coefficient /= most;
  return series;
}

double FilterSeries::value(double lambda) const {
  const double place = (lambda - center) / half;
  double next = 0;
  double after = 0;
  for (std::size_t k = coefficients.size() - 1; k > 0; --k)
    after = std::exchange(next, coefficients[k] + 2 * place * next - after);
  return coefficients[0] + place * next - after;
}

FilterPolynomial FilterPolynomial::damping(double damped_begin, double damped_end, double edge,
                                           int degree) {
  FilterPolynomial filter{.center = damped_begin + (damped_end - damped_begin) / 2,
                          .half = (damped_end - damped_begin) / 2,
                          .sign = 1,
                          .degree = degree,
                          .factor = 1};
  filter.sign = edge < filter.center ? -1 : 1;
  const double at_edge = std::max(1.0, std::abs(edge - filter.center) / filter.half);
  // Of what a double can hold the half, for values beyond the edge.
  constexpr double most_growth = 350;
  const double growth = std::acosh(at_edge);
  if (degree * growth > most_growth)
    filter.degree = std::max(1, static_cast<int>(most_growth / growth));
  filter.factor = 1 / std::cosh(filter.degree * growth);
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

/// A copy of the vectors, and products that read the last vectors and those before, which they
/// replace; of one vector the product goes through memory, too.
void PanelFilter::note(int degree) {
  product_count_ += std::int64_t{degree} * width_;
  if (!steps_) return;
  const double values = width_ == 1 ? 5 : 3 * width_;
  steps_->add_pass(3 * width_, 0);
  for (int k = 0; k < degree; ++k) steps_->add_product(width_, values, 4 * width_);
}

void PanelFilter::collective_apply(const FilterPolynomial& polynomial, const double* x, double* y) {
  op_.team().run([&](const TeamThread& thread) { collective_apply(thread, polynomial, x, y); });
}

void PanelFilter::collective_apply(const TeamThread& thread, const FilterPolynomial& polynomial,
                                   const double* x, double* y) {
  if (thread.is_primary()) note(polynomial.degree);
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

void PanelFilter::collective_apply(const TeamThread& thread, const FilterSeries& series,
                                   const double* x, double* y) {
  if (thread.is_primary()) product_count_ += std::int64_t{series.degree()} * width_;
  const std::vector<double>& of = series.coefficients;
  op_.for_each_segment(thread.index, [&](std::size_t begin, std::int64_t count) {
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(begin) * width_;
    for (std::ptrdiff_t i = first; i < first + count * width_; ++i) {
      even_->values()[i] = x[i];
      y[i] = of[0] * x[i];
    }
  });
  for (std::size_t k = 1; k < of.size(); ++k) {
    Vector& last = k % 2 == 1 ? *even_ : *odd_;
    double* const next = k % 2 == 1 ? odd_->values() : even_->values();
    const double factor = (k == 1 ? 1 : 2) / series.half;
    const auto on_rows = [&](const TeamThread&, const spmv::BlockRows& rows) {
      const std::ptrdiff_t first = std::ptrdiff_t{rows.begin} * width_;
      const std::int64_t count = std::int64_t{rows.end - rows.begin} * width_;
      if (k % 2 == 0)
        step_and_add(rows.y, last.values() + first, series.center, factor, of[k - 1], of[k], count,
                     next + first, y + first);
      else
        step(rows.y, last.values() + first, next + first, series.center, factor, k == 1 ? 0 : -1,
             count, next + first);
    };
    collective_multiply(thread, last, std::cref(on_rows));
    thread.barrier();
  }
}

}  // namespace weft::solver
