#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "comm_thread/channels/landing.h"
#include "perfmodel/huge_page_buffer.h"

namespace weft::solver {

/// The newest values of a plane of grid points, from the one thread that makes them to the one that
/// needs them.
///
/// *async*: the plane taken is a whole one, of one sweep. *racy*: its elements are whole, each as
/// new as it happens to be. Neither end waits for the other to make a sweep; *async* waits while
/// the other copies the plane.
/// Source: Bethune et al. 2012, sections 3.3.2 (async) and 3.3.3 (racy). There the lock is held
/// while values at the boundary are computed; here values are copied, and the lock is held no
/// longer than that takes.
///
/// Memory ordering: *async*: all under the mutex. *racy*: elements are relaxed
/// `std::atomic_ref<double>` on both sides; the sweep is stored after them with release and loaded
/// before them with acquire, so that elements are at least as new as the sweep says.
class alignas(64) SharedPlane {
 public:
  /// Rows of `row_length` values, `row_count` of them. Nobody has touched the memory yet.
  SharedPlane(comm_thread::Delivery delivery, std::size_t row_length, std::size_t row_count);

  /// Replaces the plane by that whose rows begin at `plane` and are `stride` apart, the result of
  /// the sweep numbered `sweep`. Thread: one at a time.
  void publish(const double* plane, std::ptrdiff_t stride, std::int64_t sweep);

  /// Copies the newest plane to rows that begin at `plane` and are `stride` apart; returns its
  /// sweep. Zeros before the first `publish`. Thread: one at a time, also beside `publish`.
  std::int64_t take(double* plane, std::ptrdiff_t stride);

 private:
  template <class Copy>
  void for_each_row(const Copy& copy);

  const comm_thread::Delivery delivery_;
  const std::size_t row_length_;
  const std::size_t row_count_;
  perfmodel::HugePageBuffer<double> values_;
  std::atomic<std::int64_t> sweep_{0};
  std::mutex mutex_;  // async only
};

}  // namespace weft::solver
