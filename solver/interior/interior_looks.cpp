#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "solver/interior/interior_lanczos.h"

// What InteriorLanczos sees in the Ritz pairs of its space.

namespace weft::solver {

/// The least that p can be where it stands for a value in the range.
double InteriorLanczos::bar_of(const EnergyRange& range) const {
  constexpr double rounding = 1e-10;
  double least = HUGE_VAL;
  for (const double end : {range.begin, range.end})
    if (end > spectrum_.least && end < spectrum_.greatest)
      least = std::min(least, series_.value(end) - rounding);
  return least;
}

/// How many Ritz values of p(A) are above that of the ends of the interval.
int InteriorLanczos::count_in_interval(const SymmetricEigen& found) const {
  const double bar = bar_of(*options_.interval);
  return static_cast<int>(std::count_if(found.values.begin(), found.values.end(),
                                        [bar](double value) { return value >= bar; }));
}

/// How many Ritz values of p(A) are above the bar, or may still become so.
int InteriorLanczos::count_above(const SymmetricEigen& found, double bar) const {
  int count = 0;
  const auto size = static_cast<int>(found.values.size());
  for (int number = 0; number < size; ++number) {
    const double value = found.values[static_cast<std::size_t>(size - 1 - number)];
    if (value >= bar || value + space_->residual_of(found, number) >= bar) count = number + 1;
  }
  return count;
}

/// The range in which the pairs that are asked for lie: from the wanted pairs nearest to a number
/// their distance, or the interval.
EnergyRange InteriorLanczos::wanted_range() const {
  if (!is_near()) return *options_.interval;
  std::vector<double> distances;
  for (const double value : pairs_.values) distances.push_back(std::abs(value - options_.sigma));
  std::sort(distances.begin(), distances.end());
  const double distance = distances[static_cast<std::size_t>(options_.count) - 1];
  return {.begin = options_.sigma - distance, .end = options_.sigma + distance};
}

bool InteriorLanczos::are_converged() const {
  return std::all_of(pairs_.residuals.begin(), pairs_.residuals.end(),
                     [this](double residual) { return residual <= options_.tolerance * norm_; });
}

/// True if no pair is farther from the number than the last that is asked for: what else is above
/// the bar are copies.
bool InteriorLanczos::are_equally_near() const {
  const EnergyRange wanted = wanted_range();
  const double near = options_.tolerance * norm_;
  return std::all_of(pairs_.values.begin(), pairs_.values.end(), [&](double value) {
    return value >= wanted.begin - near && value <= wanted.end + near;
  });
}

/// True if some value has as many copies as all random blocks together have vectors, so that the
/// matrix may have more of them.
bool InteriorLanczos::lacks_copies() const {
  if (width_ == 1 || space_->is_whole() || chosen_.size() < 2) return false;
  constexpr double equal = 1e-4;  // part of the mean distance of two values
  const auto value = [&](std::size_t i) {
    return pairs_.values[static_cast<std::size_t>(chosen_[i])];
  };
  const auto residual = [&](std::size_t i) {
    return pairs_.residuals[static_cast<std::size_t>(chosen_[i])];
  };
  const double near =
      equal * std::abs(value(chosen_.size() - 1) - value(0)) / static_cast<double>(chosen_.size());
  int copies = 1;
  for (std::size_t i = 1; i < chosen_.size(); ++i) {
    const bool is_copy = value(i) - value(i - 1) <= near + 4 * (residual(i) + residual(i - 1));
    copies = is_copy ? copies + 1 : 1;
    if (copies >= blocks_ * width_) return true;
  }
  return false;
}

/// Those of some values, in ascending order, that are asked for.
std::vector<int> InteriorLanczos::choose(const std::vector<double>& values) const {
  std::vector<int> numbers(values.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto value = [&](int number) { return values[static_cast<std::size_t>(number)]; };
  if (!is_near()) {
    std::erase_if(numbers, [&](int number) {
      return value(number) < options_.interval->begin || value(number) > options_.interval->end;
    });
    return numbers;
  }
  const auto distance = [&](int number) { return std::abs(value(number) - options_.sigma); };
  std::sort(numbers.begin(), numbers.end(), [&](int one, int other) {
    return std::pair(distance(one), one) < std::pair(distance(other), other);
  });
  numbers.resize(std::min(numbers.size(), static_cast<std::size_t>(options_.count)));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// True if the Ritz pairs of p(A) are so good that those of A are worth a look, though the space is
/// not full, and one step takes far longer than the Ritz pairs.
bool InteriorLanczos::seems_found() const {
  const int panels = space_->processed();
  const double vectors = panels * width_;
  const double step = 2.0 * static_cast<double>(op_.matrix().matrix().global_nonzero_count) *
                      width_ * static_cast<double>(series_.degree());
  constexpr double flops_of_pair = 10;  // over the square of their number
  constexpr double times = 20;
  // A random block beside pairs that are found has to grow first.
  if (blocks_ > 1 || step < times * flops_of_pair * vectors * vectors * vectors) return false;
  const SymmetricEigen found = space_->projected();
  const auto size = static_cast<int>(found.values.size());
  if (is_near() && size <= options_.count) return false;
  const auto value = [&](int number) {
    return found.values[static_cast<std::size_t>(size - 1 - number)];
  };
  // Near a number: of the last that is wanted, and a little less, since p is not symmetric.
  const double last = is_near() ? value(options_.count - 1) : 0;
  const double bar = is_near() ? last - 0.1 * (1 - last) : bar_of(*options_.interval);
  // A residual of A is at most about the half of its range times that of p(A), often a quarter.
  const double small = 2 * options_.tolerance * norm_ / spectrum_.half();
  int above = 0;
  for (int number = 0; number < size; ++number) {
    const double residual = space_->residual_of(found, number);
    if (value(number) + residual < bar) continue;
    if (residual > small) return false;
    ++above;
  }
  return above >= (is_near() ? options_.count : 1) && above <= panels / 2 * width_;
}

}  // namespace weft::solver
