#include "solver/threads/plane_boundaries.h"

namespace weft::solver {

PlaneBoundaries::PlaneBoundaries(comm_thread::Delivery delivery, int thread_count,
                                 std::size_t row_length, std::size_t row_count) {
  for (int i = 0; i + 1 < thread_count; ++i)
    boundaries_.emplace_back(delivery, row_length, row_count);
}

std::array<PlaneWorker::Link, 2> PlaneBoundaries::links_of(int thread) {
  std::array<PlaneWorker::Link, 2> links;
  const auto above_index = static_cast<std::size_t>(thread);
  if (above_index > 0 && above_index <= boundaries_.size()) {
    Boundary& below = boundaries_[above_index - 1];
    links[0] = {.outgoing = &below.downwards, .incoming = &below.upwards};
  }
  if (above_index < boundaries_.size()) {
    Boundary& above = boundaries_[above_index];
    links[1] = {.outgoing = &above.upwards, .incoming = &above.downwards};
  }
  return links;
}

}  // namespace weft::solver
