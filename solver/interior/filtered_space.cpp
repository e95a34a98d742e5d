#include "solver/interior/filtered_space.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "comm_thread/placement/compute_team.h"
#include "solver/panels/orthonormalised.h"

namespace weft::solver {

FilteredSpace::FilteredSpace(spmv::SparseOperator& op, int width, int panels, int more_panels,
                             spmv::Mode mode)
    : op_(op),
      panels_(panels),
      filter_(op, width, mode),
      basis_(op, width, panels + more_panels, panels * width),
      projection_(panels * width, panels * width),
      rest_(width, width) {}

/// Makes panel `size_`, which is `y`, a part of the space, unless that is whole.
void FilteredSpace::collective_append(double* y) {
  if (std::int64_t{size_ + 1} * width() > op_.global_row_count()) {
    is_whole_ = true;
    rest_ = SmallMatrix(width(), width());
    return;
  }
  rest_ = collective_orthonormalise(basis_, size_, y, true, random_columns_);
  ++size_;
}

void FilteredSpace::collective_begin() { collective_begin_beside(0); }

void FilteredSpace::collective_begin_beside(int count) {
  size_ = processed_ = count;
  double* const next = basis_.panel(count);
  basis_.fill_columns_randomly(next, width(), random_columns_);
  random_columns_ += width();
  SmallMatrix scale(width(), width());
  for (int i = 0; i < width(); ++i)
    scale(i, i) = 1 / std::sqrt(static_cast<double>(op_.global_row_count()));
  basis_.multiply(scale, next);
  if (count > 0) basis_.subtract(count, basis_.collective_products(count, next), next);
  collective_append(next);
}

void FilteredSpace::collective_begin_with_sums() {
  SmallMatrix combination(processed_ * width(), width());
  for (int i = 0; i < combination.rows(); ++i) combination(i, i % width()) = 1;
  basis_.rotate(processed_, combination);
  size_ = processed_ = 0;
  collective_append(basis_.panel(0));
}

void FilteredSpace::take_all_vectors() {
  basis_.set_unit_vectors(panels_);
  size_ = processed_ = panels_;
  is_whole_ = true;
}

/// Processes a panel, and appends what comes next.
bool FilteredSpace::collective_step(const FilterSeries& series) {
  double* const y = basis_.panel(size_);
  op_.team().run([&](const comm_thread::TeamThread& thread) {
    filter_.collective_apply(thread, series, basis_.panel(processed_), y);
  });
  for (int pass = 0; pass < 2; ++pass) {
    const SmallMatrix part = basis_.collective_products(size_, y);
    for (int column = 0; column < width(); ++column)
      for (int row = 0; row < part.rows(); ++row) {
        if (!std::isfinite(part(row, column))) return false;
        double& entry = projection_(row, processed_ * width() + column);
        entry = pass == 0 ? part(row, column) : entry + part(row, column);
      }
    basis_.subtract(size_, part, y);
  }
  ++processed_;
  collective_append(y);
  return true;
}

FilteredSpace::Fill FilteredSpace::collective_fill(const FilterSeries& series,
                                                   const std::function<bool()>& ends) {
  while (processed_ < panels_ && processed_ < size_) {
    if (!collective_step(series)) return Fill::too_large;
    if (ends()) return Fill::ended;
  }
  return Fill::done;
}

SymmetricEigen FilteredSpace::projected() const {
  SmallMatrix part(processed_ * width(), processed_ * width());
  for (int j = 0; j < part.columns(); ++j)
    for (int i = 0; i <= j; ++i) part(i, j) = projection_(i, j);
  return symmetric_eigen(part);
}

double FilteredSpace::residual_of(const SymmetricEigen& found, int number) const {
  const int size = found.vectors.rows();
  double square = 0;
  for (int row = 0; row < width(); ++row) {
    double entry = 0;
    for (int i = 0; i < width(); ++i)
      entry += rest_(row, i) * found.vectors(size - width() + i, size - 1 - number);
    square += entry * entry;
  }
  return std::sqrt(square);
}

void FilteredSpace::restart(const SymmetricEigen& found, int kept_panels) {
  const int count = found.vectors.rows();
  const int kept = kept_panels * width();
  SmallMatrix vectors(count, kept);
  projection_ = SmallMatrix(panels_ * width(), panels_ * width());
  for (int j = 0; j < kept; ++j) {
    for (int i = 0; i < count; ++i) vectors(i, j) = found.vectors(i, count - 1 - j);
    projection_(j, j) = found.values[static_cast<std::size_t>(count - 1 - j)];
  }
  basis_.rotate(processed_, vectors);
  const bool has_next = size_ > processed_;
  if (has_next) basis_.exchange(processed_, kept_panels);
  processed_ = kept_panels;
  size_ = kept_panels + (has_next ? 1 : 0);
}

RitzPairs FilteredSpace::collective_ritz(int count, double unit) {
  const int panels = panels_for(count);
  const int size = panels * width();
  SmallMatrix projection(count, count);
  for (int p = 0; p < panels; ++p) {
    double* const image = basis_.panel(size_ + p);
    filter_.collective_apply(FilterPolynomial::scaled(unit), basis_.panel(p), image);
    const SmallMatrix part = basis_.collective_products(panels, image);
    for (int column = 0; column < width() && p * width() + column < count; ++column)
      for (int row = 0; row < count; ++row)
        projection(row, p * width() + column) = part(row, column);
  }
  const SymmetricEigen eigen = symmetric_eigen(projection);
  RitzPairs pairs{.values = eigen.values, .residuals = {}, .vectors = SmallMatrix(size, size)};
  pairs.values.resize(static_cast<std::size_t>(size));
  for (int j = 0; j < size; ++j)
    for (int i = 0; i < size; ++i)
      pairs.vectors(i, j) = i < count && j < count ? eigen.vectors(i, j) : i == j ? 1.0 : 0.0;
  pairs.residuals = basis_.collective_residual_norms(size_, pairs.vectors, pairs.values);
  pairs.values.resize(static_cast<std::size_t>(count));
  pairs.residuals.resize(static_cast<std::size_t>(count));
  for (double& value : pairs.values) value *= unit;
  for (double& residual : pairs.residuals) residual *= unit;
  return pairs;
}

void FilteredSpace::take(const RitzPairs& pairs) {
  basis_.rotate(pairs.vectors.rows() / width(), pairs.vectors);
}

}  // namespace weft::solver
