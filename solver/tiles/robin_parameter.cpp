#include "solver/tiles/robin_parameter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace weft::solver {
namespace {

// Between them is the minimum: below, the nearly constant error is none any more beside alpha.
constexpr double least_alpha = 0.1;  // times the lowest frequency of the grid
constexpr double most_alpha = 100;
constexpr double nearly_constant = 0.01;  // of the lowest frequency of the grid
constexpr int frequencies = 200;  // evenly on a logarithmic scale
constexpr int golden_sections = 60;

double lowest_frequency(const SchwarzProblem& problem) {
  return std::numbers::pi / static_cast<double>(problem.grid_side() + 1);
}

double worst_factor(SchwarzProblem problem, double alpha) {
  problem.alpha = alpha;
  const double lowest = lowest_frequency(problem);
  double worst = strip_convergence_factor(problem, nearly_constant * lowest);
  for (int i = 0; i <= frequencies; ++i) {
    const double share = static_cast<double>(i) / frequencies;
    worst = std::max(worst, strip_convergence_factor(
                                problem, lowest * std::pow(std::numbers::pi / lowest, share)));
  }
  return worst;
}

}  // namespace

double strip_convergence_factor(const SchwarzProblem& problem, double frequency) {
  // Across the strips errors are sums of e^(−decay·j) and of the same from the other side.
  const double beta = problem.beta();
  const double decay = std::acosh(2 - std::cos(frequency));
  const int m = problem.points_per_side;
  const int overlap = problem.overlap;
  const int width = m + 2 * overlap;
  const auto from_left = [&](int j) { return std::exp(-decay * j); };
  const auto from_right = [&](int j) { return std::exp(-decay * (width - 1 - j)); };
  // The conditions as one number each: x one point outside − beta·x on the outermost point.
  const double near = from_left(-1) - beta * from_left(0);
  const double far = from_right(-1) - beta * from_right(0);
  const double determinant = near * near - far * far;
  // The solution for 1 on the left and 0 on the right; j from the first own point.
  const auto solution = [&](int j) {
    return (near * from_left(j + overlap) - far * from_right(j + overlap)) / determinant;
  };
  const double on = solution(m - overlap - 1) - beta * solution(m - overlap);
  const double back = solution(overlap) - beta * solution(overlap - 1);
  const double theta = std::numbers::pi / problem.tiles_per_side;
  const double lost = on * std::sin(theta);
  const double discriminant = back * back - lost * lost;
  return discriminant >= 0 ? std::abs(on * std::cos(theta)) + std::sqrt(discriminant)
                           : std::sqrt(std::max(0.0, on * on - back * back));
}

double optimized_alpha(const SchwarzProblem& problem) {
  if (problem.tiles_per_side == 1 || problem.overlap == 0)
    return std::numeric_limits<double>::infinity();
  const double section = std::numbers::phi - 1;
  double low = std::log(least_alpha * lowest_frequency(problem));
  double high = std::log(most_alpha);
  for (int i = 0; i < golden_sections; ++i) {
    const double left = high - section * (high - low);
    const double right = low + section * (high - low);
    if (worst_factor(problem, std::exp(left)) < worst_factor(problem, std::exp(right)))
      high = right;
    else
      low = left;
  }
  return std::exp((low + high) / 2);
}

}  // namespace weft::solver
