#pragma once

#include <array>
#include <cstddef>
#include <deque>

#include "comm_thread/channels/landing.h"
#include "solver/threads/plane_worker.h"
#include "solver/threads/shared_plane.h"

namespace weft::solver {

/// The shared planes between threads 0, 1, …, each of which has the block above that of the one
/// before: two for each boundary, one each way.
class PlaneBoundaries {
 public:
  /// Planes of `row_count` rows. No boundaries for fewer than two threads.
  PlaneBoundaries(comm_thread::Delivery delivery, int thread_count, std::size_t row_length,
                  std::size_t row_count);

  /// Boundary planes that `thread` gives and takes: below, above.
  std::array<PlaneWorker::Link, 2> links_of(int thread);

 private:
  struct Boundary {
    Boundary(comm_thread::Delivery delivery, std::size_t row_length, std::size_t row_count)
        : upwards(delivery, row_length, row_count), downwards(delivery, row_length, row_count) {}
    SharedPlane upwards;
    SharedPlane downwards;
  };

  std::deque<Boundary> boundaries_;  // [threads − 1]; number i is above thread i
};

}  // namespace weft::solver
