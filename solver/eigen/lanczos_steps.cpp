#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "solver/eigen/filtered_lanczos.h"
#include "solver/panels/orthonormalised.h"

// The search space of FilteredLanczos: how it begins, grows and is restarted.

namespace weft::solver {

/// Makes the vectors of panel `size_`, which is `y`, orthonormal to all before and to each other.
/// Directions that vanish become random ones. `is_rough`: they may still have parts along those
/// before. False if there is no other vector.
bool FilteredLanczos::collective_append(double* y, bool is_rough) {
  coupling_ = SmallMatrix();
  if (std::int64_t{size_ + 1} * width() > op_.global_row_count()) {
    is_complete_space_ = true;
    return false;
  }
  coupling_ = collective_orthonormalise(basis_, size_, y, is_rough, random_columns_);
  return true;
}

void FilteredLanczos::collective_start_randomly() {
  size_ = processed_ = 0;
  projection_ = SmallMatrix(projection_.rows(), projection_.columns());
  basis_.fill_columns_randomly(basis_.panel(0), width(), random_columns_);
  random_columns_ += width();
  if (start_.count > 0) collective_take_start_vectors();
  if (collective_append(basis_.panel(0), false)) size_ = 1;
}

/// The first vectors of the first panel become those of the caller, about as large as the random
/// ones beside them.
void FilteredLanczos::collective_take_start_vectors() {
  double* const y = basis_.panel(0);
  const auto stride = static_cast<std::size_t>(width());
  collective_place(op_, start_, [&](int column, std::size_t row) -> double& {
    return y[row * stride + static_cast<std::size_t>(column)];
  });
  const SmallMatrix squares = basis_.collective_gram(y);
  SmallMatrix scale(width(), width());
  for (int column = 0; column < width(); ++column) {
    const double square = squares(column, column);
    if (!(square > 0))
      throw comm_thread::InputError(comm_thread::option_name("start") +
                                    ": found a vector of zeros; expected another");
    scale(column, column) =
        column < start_.count
            ? power_above(std::sqrt(static_cast<double>(op_.global_row_count()) / square))
            : 1;
  }
  basis_.multiply(scale, y);
}

/// Begins with the vectors Q·combination. Shape: combination: [count · width, width].
void FilteredLanczos::collective_start_from(int count, const SmallMatrix& combination) {
  basis_.rotate(count, combination);
  size_ = processed_ = 0;
  projection_ = SmallMatrix(projection_.rows(), projection_.columns());
  if (collective_append(basis_.panel(0), false)) size_ = 1;
}

/// What is known of p(A)·Q for the panel that is processed, from the steps before and the products
/// with itself. Returns the first panel of which something is known.
int FilteredLanczos::take_known() {
  const int before = processed_ * width();
  known_ = SmallMatrix(size_ * width(), width());
  int first = processed_;
  for (int column = 0; column < width(); ++column) {
    for (int row = 0; row < before; ++row) {
      known_(row, column) = projection_(row, before + column);
      if (known_(row, column) != 0) first = std::min(first, row / width());
    }
    for (int row = 0; row < width(); ++row)
      known_(before + row, column) = step_.with_last(row, column);
  }
  return first;
}

/// True if what is left needs no second pass: what was found beside what was known is small beside
/// it, in all directions. Then `factor_` makes it orthonormal.
bool FilteredLanczos::has_orthonormal_rest() {
  constexpr double least = 1e-2;
  constexpr double most_found = 1e-4;
  if (std::int64_t{size_ + 1} * width() > op_.global_row_count()) return false;
  const Orthonormalised made = orthonormalising(step_.gram, least);
  if (made.dropped > 0) return false;
  for (int column = 0; column < width(); ++column) {
    double square = 0;
    for (int row = 0; row < step_.products.rows(); ++row)
      square += step_.products(row, column) * step_.products(row, column);
    if (!(square <= most_found * most_found * made.smallest * step_.gram(column, column)))
      return false;
  }
  factor_ = made.factor;
  coupling_ = made.inverse;
  return true;
}

/// Processes a panel, and appends what comes next. False if the filter is no finite number
/// somewhere in the spectrum.
bool FilteredLanczos::collective_step() {
  const int last = processed_;
  double* const y = basis_.panel(size_);
  int first_known = 0;
  bool is_appended = false;
  op_.team().run([&](const comm_thread::TeamThread& thread) {
    filter_.collective_apply(thread, polynomial_, basis_.panel(last), y);
    basis_.collective_pair(thread, basis_.panel(last), y, step_);
    if (thread.is_primary()) first_known = take_known();
    thread.barrier();
    basis_.collective_subtract_known(thread, first_known, size_, known_, y, step_);
    basis_.collective_subtract_found(thread, size_, y, step_);
    if (thread.is_primary()) is_appended = has_orthonormal_rest();
    thread.barrier();
    if (is_appended) basis_.multiply(thread, factor_, y);
  });
  for (const double norm : step_.norms)
    if (!std::isfinite(norm)) return false;
  for (int column = 0; column < width(); ++column)
    for (int row = 0; row < known_.rows(); ++row)
      projection_(row, last * width() + column) = known_(row, column) + step_.products(row, column);
  ++processed_;
  if (!is_appended && !collective_append(y, true)) return true;
  for (int row = 0; row < width(); ++row)
    for (int column = 0; column < width(); ++column)
      projection_(last * width() + row, size_ * width() + column) = coupling_(column, row);
  ++size_;
  return true;
}

/// Goes on until `panels` are processed, or the wanted pairs seem to be found, or it is stopped.
void FilteredLanczos::collective_expand(int panels) {
  constexpr int most_looked_at = 64;  // columns of which the eigenvalues take little time
  constexpr double near = 1e4;
  while (processed_ < std::min(panels, size_)) {
    if (!collective_step()) collective_begin_bounded();
    ++steps_;
    if (blocks_ == 1 && distance_ < near && processed_ < panels && processed_ > wanted_panels() &&
        processed_ * width() <= most_looked_at && distance_to_end(found_so_far()) <= 1)
      return;
    if (collective_ends_step()) return;
  }
}

SymmetricEigen FilteredLanczos::projected(int panels) const {
  if (keeper_.steps()) keeper_.steps()->add_dense(panels * width());
  SmallMatrix part(panels * width(), panels * width());
  for (int j = 0; j < part.columns(); ++j)
    for (int i = 0; i <= j; ++i) part(i, j) = projection_(i, j);
  return symmetric_eigen(part);
}

/// Keeps the Ritz vectors of the greatest values of p(A), and the panel that comes next.
void FilteredLanczos::restart(const SymmetricEigen& ritz, int kept_panels) {
  const int count = ritz.vectors.rows();
  const int kept = kept_panels * width();
  const int old = count / width();
  SmallMatrix vectors(count, kept);
  for (int j = 0; j < kept; ++j)
    for (int i = 0; i < count; ++i) vectors(i, j) = ritz.vectors(i, count - 1 - j);
  basis_.rotate(old, vectors);
  const bool has_next = size_ > old;
  if (has_next) basis_.exchange(old, kept_panels);
  const SmallMatrix before =
      std::exchange(projection_, SmallMatrix(projection_.rows(), projection_.columns()));
  for (int j = 0; j < kept; ++j) {
    projection_(j, j) = ritz.values[static_cast<std::size_t>(count - 1 - j)];
    for (int next = 0; has_next && next < width(); ++next)
      for (int i = count - width(); i < count; ++i)
        projection_(j, kept + next) += vectors(i, j) * before(i, count + next);
  }
  processed_ = kept_panels;
  size_ = kept_panels + (has_next ? 1 : 0);
}

/// Keeps the wanted pairs and continues with a random block that is orthogonal to them.
void FilteredLanczos::collective_look_for_copies() {
  ++blocks_;
  size_ = processed_ = wanted_panels();
  for (int j = size_ * width(); j < projection_.columns(); ++j)
    for (int i = 0; i < projection_.rows(); ++i) projection_(i, j) = 0;
  double* const next = basis_.panel(size_);
  basis_.fill_columns_randomly(next, width(), random_columns_);
  random_columns_ += width();
  if (collective_append(next, true)) ++size_;
}

}  // namespace weft::solver
