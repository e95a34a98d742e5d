#include "spmv/problems/elasticity_generator.h"

#include <cmath>
#include <span>

namespace weft::spmv {
namespace {

/// Couplings below this share of the largest are what rounding left of a sum that is zero.
constexpr double rounding = 1e-13;

std::size_t bit(std::size_t number, std::size_t i) { return number >> i & 1; }

}  // namespace

ElasticityGenerator::ElasticityGenerator(const Problem& problem) : elements_(problem.grid) {
  if (problem.elasticity.is_mass)
    fill_mass();
  else
    fill_element(problem.elasticity.poisson_ratio);
  for (std::size_t sides = 0; sides < 64; ++sides) couplings_.push_back(couplings(sides));
}

/// The matrix of a unit cube: corner a has the bits of its x, y and z.
void ElasticityGenerator::fill_element(double poisson_ratio) {
  const double lambda = poisson_ratio / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio));
  const double mu = 1 / (2 * (1 + poisson_ratio));
  const double offset = 0.5 / std::sqrt(3.0);
  for (std::size_t point = 0; point < 8; ++point) {
    std::array<double, 3> at{};
    for (std::size_t i = 0; i < 3; ++i) at[i] = bit(point, i) ? 0.5 + offset : 0.5 - offset;
    std::array<std::array<double, 3>, corners> gradients{};
    for (std::size_t corner = 0; corner < corners; ++corner)
      for (std::size_t i = 0; i < 3; ++i) {
        double value = bit(corner, i) ? 1 : -1;
        for (std::size_t j = 0; j < 3; ++j)
          if (j != i) value *= bit(corner, j) ? at[j] : 1 - at[j];
        gradients[corner][i] = value;
      }
    for (std::size_t a = 0; a < corners; ++a)
      for (std::size_t b = 0; b < corners; ++b) {
        double dot = 0;
        for (std::size_t k = 0; k < 3; ++k) dot += gradients[a][k] * gradients[b][k];
        for (std::size_t i = 0; i < 3; ++i)
          for (std::size_t j = 0; j < 3; ++j)
            element_[3 * a + i][3 * b + j] +=
                (lambda * gradients[a][i] * gradients[b][j] +
                 mu * gradients[a][j] * gradients[b][i] + (i == j ? mu * dot : 0)) /
                8;
      }
  }
  for (std::size_t row = 0; row < element_rows; ++row)
    for (std::size_t column = 0; column < row; ++column)
      element_[column][row] = element_[row][column];
}

/// The mass matrix of a unit cube.
void ElasticityGenerator::fill_mass() {
  for (std::size_t a = 0; a < corners; ++a)
    for (std::size_t b = 0; b < corners; ++b)
      for (std::size_t i = 0; i < 3; ++i) {
        double value = 1;
        for (std::size_t k = 0; k < 3; ++k) value /= bit(a, k) == bit(b, k) ? 3 : 6;
        element_[3 * a + i][3 * b + i] = value;
      }
}

/// Sums over the elements around a node, in one order for both nodes of a pair.
ElasticityGenerator::Couplings ElasticityGenerator::couplings(std::size_t sides) const {
  Couplings sums{};
  for (std::size_t element = 0; element < 8; ++element) {  // a bit for the side +x, +y, +z
    bool is_there = true;
    std::size_t own = 0;  // the node's corner in it
    for (std::size_t i = 0; i < 3; ++i) {
      is_there = is_there && bit(sides, 2 * i + bit(element, i)) != 0;
      own |= (1 - bit(element, i)) << i;
    }
    if (!is_there) continue;
    for (std::size_t other = 0; other < corners; ++other) {
      std::size_t neighbour = 0;
      std::size_t stride = 1;
      for (std::size_t i = 0; i < 3; ++i, stride *= 3)
        neighbour += stride * (1 + bit(other, i) - bit(own, i));
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
          sums[9 * neighbour + 3 * i + j] += element_[3 * own + i][3 * other + j];
    }
  }
  const double least = rounding * element_[0][0];
  for (double& sum : sums)
    if (std::abs(sum) < least) sum = 0;
  return sums;
}

ElasticityGenerator::Place ElasticityGenerator::place(GlobalIndex node) const {
  const GlobalIndex line = node / elements_.x;
  return {.at = {node % elements_.x + 1, line % (elements_.y + 1), line / (elements_.y + 1)},
          .last = {elements_.x, elements_.y, elements_.z}};
}

std::array<double, 3> ElasticityGenerator::coordinates(GlobalIndex node) const {
  const Place where = place(node);
  return {static_cast<double>(where.at[0]), static_cast<double>(where.at[1]),
          static_cast<double>(where.at[2])};
}

void ElasticityGenerator::visit_rows(GlobalIndex begin, GlobalIndex end,
                                     const RowVisitor& visit) const {
  std::array<GlobalIndex, 81> columns{};
  std::array<double, 81> values{};
  const std::array<GlobalIndex, 3> strides{1, elements_.x, elements_.x * (elements_.y + 1)};
  for (GlobalIndex row = begin; row < end; ++row) {
    const GlobalIndex node = row / rows_of_node;
    const Place where = place(node);
    std::size_t sides = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      if (where.at[i] > 0) sides |= std::size_t{1} << (2 * i);
      if (where.at[i] < where.last[i]) sides |= std::size_t{2} << (2 * i);
    }
    const Couplings& of_node = couplings_[sides];
    const auto component = static_cast<std::size_t>(row % rows_of_node);
    std::size_t count = 0;
    for (std::size_t neighbour = 0; neighbour < 27; ++neighbour) {
      const std::array<GlobalIndex, 3> steps{static_cast<GlobalIndex>(neighbour % 3) - 1,
                                             static_cast<GlobalIndex>(neighbour / 3 % 3) - 1,
                                             static_cast<GlobalIndex>(neighbour / 9) - 1};
      GlobalIndex other = node;
      bool is_inside = where.at[0] + steps[0] > 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const GlobalIndex at = where.at[i] + steps[i];
        is_inside = is_inside && at >= 0 && at <= where.last[i];
        other += steps[i] * strides[i];
      }
      if (!is_inside) continue;
      for (std::size_t j = 0; j < 3; ++j) {
        const double value = of_node[9 * neighbour + 3 * component + j];
        if (value == 0) continue;
        columns[count] = rows_of_node * other + static_cast<GlobalIndex>(j);
        values[count++] = value;
      }
    }
    visit(row, std::span(columns).first(count), std::span(values).first(count));
  }
}

}  // namespace weft::spmv
