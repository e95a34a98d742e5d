#include "library/system/block_columns.h"

namespace weft::library {

std::vector<BlockColumns::Vector> BlockColumns::collective_to_operator(
    std::span<const double> given) const {
  std::vector<Vector> vectors;
  std::vector<double> column(map_.given_count());
  for (std::size_t v = 0; v < count_; ++v) {
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = given[i * count_ + v];
    vectors.emplace_back(element_count_);
    map_.collective_to_operator(column, vectors.back().span());
  }
  return vectors;
}

void BlockColumns::collective_from_operator(const std::vector<Vector>& vectors,
                                            std::span<double> given) const {
  std::vector<double> column(map_.given_count());
  for (std::size_t v = 0; v < count_; ++v) {
    map_.collective_from_operator({vectors[v].data(), vectors[v].size()}, column);
    for (std::size_t i = 0; i < column.size(); ++i) given[i * count_ + v] = column[i];
  }
}

std::vector<std::span<const double>> BlockColumns::views(const std::vector<Vector>& vectors) {
  std::vector<std::span<const double>> spans;
  for (const Vector& vector : vectors) spans.emplace_back(vector.data(), vector.size());
  return spans;
}

std::vector<std::span<double>> BlockColumns::changeable_views(std::vector<Vector>& vectors) {
  std::vector<std::span<double>> spans;
  for (Vector& vector : vectors) spans.push_back(vector.span());
  return spans;
}

}  // namespace weft::library
