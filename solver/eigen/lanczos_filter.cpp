#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "solver/eigen/filtered_lanczos.h"
#include "solver/panels/lanczos_recurrence.h"
#include "solver/panels/powers_of_two.h"

// What FilteredLanczos knows of the spectrum, and the filter that fits it.

namespace weft::solver {
namespace {

/// Panels of a search space of A, at least: with 6 it has missed the far end of the spectrum.
constexpr int first_panels = 10;

/// The distance from the end of the spectrum within which about `count` of `rows` eigenvalues lie:
/// half of what a Ritz value stands for lies before it.
double distance_of(const RitzValues& ritz, bool is_from_least, double rows, double count) {
  const std::size_t size = ritz.values.size();
  const auto number = [&](std::size_t i) { return is_from_least ? i : size - 1 - i; };
  const double end = ritz.values[number(0)];
  double distance = 0;
  double within = 0;
  double before = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double weight = rows * ritz.weights[number(i)];
    const double next = std::abs(ritz.values[number(i)] - end);
    const double within_next = before + weight / 2;
    if (i > 0 && within_next >= count)
      return within < count
                 ? distance + (next - distance) * (count - within) / (within_next - within)
                 : next;
    distance = next;
    within = within_next;
    before += weight;
  }
  return distance;
}

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

/// Chooses the first filter: some steps of Lanczos with one vector, at about a tenth of the cost of
/// a search space, tell where the spectrum ends and where the filter should begin to damp. Twice as
/// many values as survive a restart are left undamped: a count by one vector may be off by a third
/// and more, and too few cost more products than too many. False where that vector reaches only few
/// eigenvalues.
bool FilteredLanczos::collective_estimate() {
  constexpr std::int64_t first_steps = 20;
  constexpr std::int64_t most_steps = 300;
  constexpr std::int64_t steps_of_degree = 4;
  constexpr double more = 2;
  constexpr double margin = 0.01;  // of the width, that the spectrum may be wider
  const int survivors = kept_panels(most_panels_) * width();
  LanczosRecurrence recurrence(op_, options_.mode, keeper_.steps());
  for (std::int64_t steps = first_steps;; steps += std::max(first_steps / 2, steps / 4)) {
    recurrence.collective_go_on(std::min(steps, most_steps));
    products_before_ = recurrence.product_count();
    if (recurrence.is_whole()) {
      polynomial_ = FilterPolynomial::scaled(unit_);
      return false;
    }
    const RitzValues ritz = recurrence.ritz_values();
    const double first = is_smallest() ? ritz.values.front() : ritz.values.back();
    const double width_of_all = ritz.values.back() - ritz.values.front();
    norm_ = std::max(std::abs(ritz.values.front()), std::abs(ritz.values.back()));
    least_ = ritz.values.front() - ritz.errors.front() - margin * width_of_all;
    greatest_ = ritz.values.back() + ritz.errors.back() + margin * width_of_all;
    const double distance =
        std::clamp(distance_of(ritz, is_smallest(), static_cast<double>(op_.global_row_count()),
                               more * survivors),
                   1e-6 * width_of_all, 0.5 * width_of_all);
    damped_from_ = is_smallest() ? first + distance : first - distance;
    choose_filter(first, damped_from_);
    if (steps >= std::min<std::int64_t>(most_steps, steps_of_degree * polynomial_.degree)) break;
  }
  filter_count_ = 1;
  return true;
}

/// Finds the ends of the spectrum in a search space of A.
void FilteredLanczos::collective_look_at_spectrum() {
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
  // A higher degree takes fewer passes over the basis, and more products.
  constexpr double steep = 1.5;
  constexpr double least_degree = 4;
  constexpr double most_degree = 400;
  const int degree = options_.degree > 0
                         ? options_.degree
                         : static_cast<int>(std::clamp(std::ceil(steep * std::sqrt(ratio)),
                                                       least_degree, most_degree));
  polynomial_ = FilterPolynomial::damping(begin, end, first, degree);
}

/// The largest residual of a wanted pair as a multiple of the tolerance, as it seems to be: that of
/// p(A) divided by the mean slope of p from the eigenvalues that disturb the pair to its value:
/// where p begins to be small, or, since most are farther, a part of the way to the middle of them.
double FilteredLanczos::distance_to_end(const SymmetricEigen& found) const {
  double largest = 0;
  for (int i = 0; i < options_.count; ++i) {
    const double value = found.values[found.values.size() - 1 - static_cast<std::size_t>(i)];
    double slope = 1 / unit_;
    if (filter_count_ > 0) {
      const double lambda = value_at(found, i);
      const double far =
          std::max(std::abs(lambda - damped_from_), 0.3 * std::abs(lambda - polynomial_.center));
      slope = (value - polynomial_.factor) / far;
    }
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

/// True if a filter that damps from `last` on is much better than that in use. `first`: λ of the
/// first vector.
bool FilteredLanczos::has_better_filter(double first, double last) const {
  constexpr int most_filters = 4;
  constexpr double much = 0.4;
  if (filter_count_ == 0) return true;
  const double ratio = std::abs(last - first) / std::abs(damped_from_ - first);
  return blocks_ == 1 && (ratio > 1.5 || (ratio < much && filter_count_ < most_filters));
}

/// Takes that filter, and begins a search space with the vectors Q·combination.
void FilteredLanczos::collective_follow(double first, double last, int count,
                                        const SmallMatrix& combination) {
  ++filter_count_;
  spaces_ = -1;  // the first one is yet to be filled
  damped_from_ = last;
  choose_filter(first, last);
  collective_start_from(count, combination);
}

/// Where a filter should begin to damp: at the last of the values that are kept; in a search space
/// of A, which reaches far inwards, at one soon after the wanted ones. Where the last wanted value
/// still is where the filter is small, three times as far.
double FilteredLanczos::damping_from(const SymmetricEigen& found, int kept) const {
  const int last = kept * width() - 1;
  if (filter_count_ == 0)
    return value_at(found, std::min(last, std::max(2 * width() - 1, options_.count)));
  constexpr int enough_spaces = 2;
  constexpr double near = 0.9;
  const double first = value_at(found, 0);
  const double reach = damped_from_ - first;
  const bool is_short = spaces_ >= enough_spaces && std::abs(value_at(found, options_.count - 1) -
                                                             first) > near * std::abs(reach);
  if (!is_short) return value_at(found, last);
  const double most = (greatest_ - least_) / 2;
  return first + std::clamp(3 * reach, -most, most);
}

}  // namespace weft::solver
