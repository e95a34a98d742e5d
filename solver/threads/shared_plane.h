#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "comm_thread/channels/landing.h"
#include "comm_thread/channels/triple_swap.h"
#include "perfmodel/huge_page_buffer.h"

namespace weft::solver {

/// The newest values of a plane of grid points, from the one thread that makes them to the one that
/// needs them.
///
/// *async*: the plane taken is a whole one, of one sweep; there are three, which change hands as in
/// TripleSwap. *racy*: there is one; its elements are whole, each as new as it happens to be.
/// Neither end ever waits for the other.
/// Source: Bethune et al. 2012, sections 3.3.2 (async, there under a lock) and 3.3.3 (racy).
///
/// Memory ordering: *async*: that of TripleSwap orders a plane and its sweep. *racy*: elements are
/// relaxed `std::atomic_ref<double>` on both sides; the sweep is stored after them with release and
/// loaded before them with acquire, so that elements are at least as new as the sweep says.
class alignas(64) SharedPlane {
 public:
  /// Rows of `row_length` values, `row_count` of them. No thread has touched large arrays yet.
  SharedPlane(comm_thread::Delivery delivery, std::size_t row_length, std::size_t row_count);

  /// Replaces the plane by that whose rows begin at `plane` and are `stride` apart, the result of
  /// the sweep numbered `sweep`. Thread: one at a time.
  void publish(const double* plane, std::ptrdiff_t stride, std::int64_t sweep);

  /// Copies the newest plane to rows that begin at `plane` and are `stride` apart; returns its
  /// sweep. Zeros before the first `publish`. Thread: one at a time, also beside `publish`.
  std::int64_t take(double* plane, std::ptrdiff_t stride);

 private:
  /// Calls copy(row of plane number `slot`, number of the row).
  template <class Copy>
  void for_each_row(std::uint32_t slot, const Copy& copy);

  const comm_thread::Delivery delivery_;
  const std::size_t row_length_;
  const std::size_t row_count_;
  perfmodel::HugePageBuffer<double> values_;  // async: three planes; racy: one
  std::array<std::int64_t, 3> sweeps_{};  // async: of each plane
  alignas(64) std::uint32_t back_ = comm_thread::TripleSwap::first_back;  // the writer's
  alignas(64) comm_thread::TripleSwap swap_;
  alignas(64) std::uint32_t front_ = comm_thread::TripleSwap::first_front;  // the reader's
  alignas(64) std::atomic<std::int64_t> racy_sweep_{0};
};

}  // namespace weft::solver
