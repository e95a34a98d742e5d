#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "comm_thread/engine/reproducible_sum.h"

namespace weft::solver::amg {

/// Sums of products over all ranks and threads, to the last bit the same in any order.
/// Thread: the main thread, outside the team.
class ProductSums {
 public:
  /// A pair of vectors, by their numbers.
  using Pair = std::pair<std::size_t, std::size_t>;
  static constexpr std::size_t most_sums = 12;

  /// Collective.
  explicit ProductSums(const comm_thread::Crew& crew);

  /// Σ a_i·b_i of each pair; not a number where a vector has an entry that is not finite.
  /// Shape: vectors: [count] each. Collective.
  std::array<double, most_sums> collective_add(std::span<const double* const> vectors,
                                               std::size_t count, std::span<const Pair> pairs);

 private:
  std::vector<double> collective_largest(std::span<const double* const> vectors,
                                         std::size_t count) const;

  comm_thread::Crew crew_;
  comm_thread::ReproducibleSum sums_;
};

}  // namespace weft::solver::amg
