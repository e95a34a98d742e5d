#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/mpi/communicator.h"

namespace weft::tests {

/// What `make(i)` returns for i = 0, …, count - 1: each vector is made by one rank, in turn, and
/// given to all. Collective; `make` is not, and knows no ranks.
template <class Make>
std::vector<std::vector<double>> collective_results(std::size_t count, const Make& make) {
  const auto world = comm_thread::Communicator::collective_world();
  const auto ranks = static_cast<std::size_t>(world.size());
  const auto rank = static_cast<std::size_t>(world.rank());
  std::vector<std::vector<double>> results(count);
  for (std::size_t i = rank; i < count; i += ranks) results[i] = make(i);
  for (std::size_t i = 0; i < count; ++i) {
    const int root = static_cast<int>(i % ranks);
    std::int64_t size = static_cast<std::int64_t>(results[i].size());
    world.broadcast(std::span(&size, 1), root);
    std::vector<std::int64_t> bits;
    for (const double value : results[i]) bits.push_back(std::bit_cast<std::int64_t>(value));
    bits.resize(static_cast<std::size_t>(size));
    world.broadcast(bits, root);
    results[i].clear();
    for (const std::int64_t value : bits) results[i].push_back(std::bit_cast<double>(value));
  }
  return results;
}

}  // namespace weft::tests
