#include <algorithm>
#include <cmath>
#include <cstddef>

#include "solver/eigen/filtered_lanczos.h"
#include "solver/panels/powers_of_two.h"

// What FilteredLanczos knows of the spectrum, and the filter that fits it.

namespace weft::solver {
namespace {

/// Panels of the first search space, at least: with 6 it has missed the far end of the spectrum.
constexpr int first_panels = 10;

}  // namespace
/// Of a Ritz pair of p(A), `number` from the greatest value.
double FilteredLanczos::filtered_residual(const SymmetricEigen& found, int number) const {
  const int size = found.vectors.rows();
  if (size_ * width() <= size) return 0;  // nothing is left beside the basis
  double square = 0;
  for (int column = 0; column < width(); ++column) {
    double entry = 0;
    for (int row = size - width(); row < size; ++row)
      entry += projection_(row, size + column) * found.vectors(row, size - 1 - number);
    square += entry * entry;
  }
  return std::sqrt(square);
}

/// Finds the ends of the spectrum in the first search space, which is that of A.
void FilteredLanczos::collective_look_at_spectrum() {
  if (steps_ == 0) {
    unit_ = power_above(op_.collective_norm());
    polynomial_ = FilterPolynomial::scaled(unit_);
  }
  collective_expand(std::min(most_panels_, std::max(first_panels, wanted_panels() + 2)));
  const SymmetricEigen found = found_so_far();
  const int last = static_cast<int>(found.values.size()) - 1;
  const double wanted_end = value_at(found, 0);
  const double other_end = value_at(found, last);
  norm_ = std::max(std::abs(wanted_end), std::abs(other_end));
  const double beyond_wanted = filtered_residual(found, 0) * unit_;
  const double beyond_other = filtered_residual(found, last) * unit_;
  least_ = is_smallest() ? wanted_end - beyond_wanted : other_end - beyond_other;
  greatest_ = is_smallest() ? other_end + beyond_other : wanted_end + beyond_wanted;
  has_looked_ = true;
}

/// λ outside of the damped interval at which the filter has that value.
double FilteredLanczos::value_of_filter(double filtered) const {
  const double of_chebyshev = std::max(1.0, filtered / polynomial_.factor);
  return polynomial_.center + polynomial_.sign * polynomial_.half *
                                  std::cosh(std::acosh(of_chebyshev) / polynomial_.degree);
}

/// A filter that damps all from `last` on, for wanted values from `first` to before `last`.
void FilteredLanczos::choose_filter(double first, double last) {
  const double begin = is_smallest() ? last : least_;
  const double end = is_smallest() ? greatest_ : last;
  const double ratio = (end - begin) / std::max(std::abs(last - first), 1e-14 * norm_);
  constexpr double least_degree = 4;
  constexpr double most_degree = 400;
  const int degree = options_.degree > 0
                         ? options_.degree
                         : static_cast<int>(std::clamp(std::ceil(2 * std::sqrt(ratio)),
                                                       least_degree, most_degree));
  polynomial_ = FilterPolynomial::damping(begin, end, first, degree);
}

/// The largest residual of a wanted pair as a multiple of the tolerance, as it seems to be: that of
/// p(A) divided by the mean slope of p from where it is small to the value.
double FilteredLanczos::distance_to_end(const SymmetricEigen& found) const {
  double largest = 0;
  for (int i = 0; i < options_.count; ++i) {
    const double value = found.values[found.values.size() - 1 - static_cast<std::size_t>(i)];
    double slope = 1 / unit_;
    if (filter_count_ > 0)
      slope = (value - polynomial_.factor) / std::abs(value_at(found, i) - damped_from_);
    const double residual = filtered_residual(found, i);
    const double allowed = trust_ * options_.tolerance * norm_ * slope;
    if (residual <= allowed) continue;
    largest = std::max(largest, allowed > 0 ? residual / allowed : HUGE_VAL);
  }
  return largest;
}

/// Ritz pairs of p(A), the wanted ones last; in the first search space those of A, turned around
/// where the smallest are wanted.
SymmetricEigen FilteredLanczos::found_so_far() const {
  SymmetricEigen found = projected(processed_);
  if (!is_smallest() || filter_count_ > 0) return found;
  const int size = found.vectors.columns();
  SymmetricEigen turned{.values = {}, .vectors = SmallMatrix(size, size)};
  for (int j = 0; j < size; ++j) {
    turned.values.push_back(-found.values[static_cast<std::size_t>(size - 1 - j)]);
    for (int i = 0; i < size; ++i) turned.vectors(i, j) = found.vectors(i, size - 1 - j);
  }
  return turned;
}

/// True if the spectrum goes on beyond the interval that is damped, where the filter grows, too.
bool FilteredLanczos::goes_beyond(const Ritz& ritz) const {
  return std::any_of(ritz.values.begin(), ritz.values.end(), [this](double value) {
    return is_smallest() ? value > greatest_ : value < least_;
  });
}

/// λ of one of the greatest values that are found, `number` from 0.
double FilteredLanczos::value_at(const SymmetricEigen& found, int number) const {
  const double value = found.values[found.values.size() - 1 - static_cast<std::size_t>(number)];
  if (filter_count_ > 0) return value_of_filter(value);
  return (is_smallest() ? -value : value) * unit_;
}

/// True if a filter that fits what is found is much better than that in use. `first`, `last`: λ of
/// the first and the last vector that is kept.
bool FilteredLanczos::has_better_filter(double first, double last) const {
  constexpr int most_filters = 4;
  const bool is_better = std::abs(last - first) < 0.4 * std::abs(damped_from_ - first);
  return filter_count_ == 0 || (is_better && filter_count_ < most_filters && blocks_ == 1);
}

/// Takes that filter, and begins a search space with the vectors Q·combination.
void FilteredLanczos::collective_follow(double first, double last, int count,
                                        const SmallMatrix& combination) {
  ++filter_count_;
  damped_from_ = last;
  choose_filter(first, last);
  collective_start_from(count, combination);
}

/// Which of the greatest values that are found the damped interval begins at: the last that is
/// kept; in the first search space, which reaches far inwards, one soon after the wanted ones.
int FilteredLanczos::number_of_last(int kept) const {
  const int last = kept * width() - 1;
  return filter_count_ > 0 ? last : std::min(last, std::max(2 * width() - 1, options_.count));
}

}  // namespace weft::solver
