#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "solver/panels/powers_of_two.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// Vectors that a search begins with. Shape: values: [element_count · count], the entries of a row
/// together.
struct StartVectors {
  std::vector<double> values;
  int count = 0;
};

/// Calls place(column, row) = entry for all, scaled by a power of two so that the largest is from ½
/// to 1. Collective. Thread: the main thread, outside the team; `place` is called by all of it.
template <class Place>
void collective_place(const spmv::SparseOperator& op, const StartVectors& start,
                      const Place& place) {
  const auto count = static_cast<std::size_t>(start.count);
  double largest = 0;
  for (const double value : start.values) largest = std::max(largest, std::abs(value));
  const double scale = 1 / power_above(op.communicator().max(largest));
  op.team().run([&](const comm_thread::TeamThread& thread) {
    for (int column = 0; column < start.count; ++column)
      op.for_each_element(thread.index, [&](std::size_t row) {
        place(column, row) = scale * start.values[row * count + static_cast<std::size_t>(column)];
      });
  });
}

}  // namespace weft::solver
