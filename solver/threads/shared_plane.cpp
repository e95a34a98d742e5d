#include "solver/threads/shared_plane.h"

#include <algorithm>

namespace weft::solver {
namespace {

void store_elements(const double* from, std::size_t count, double* to) {
  for (std::size_t i = 0; i < count; ++i)
    std::atomic_ref<double>(to[i]).store(from[i], std::memory_order_relaxed);
}

void load_elements(double* from, std::size_t count, double* to) {
  for (std::size_t i = 0; i < count; ++i)
    to[i] = std::atomic_ref<double>(from[i]).load(std::memory_order_relaxed);
}

}  // namespace

SharedPlane::SharedPlane(comm_thread::Delivery delivery, std::size_t row_length,
                         std::size_t row_count)
    : delivery_(delivery),
      row_length_(row_length),
      row_count_(row_count),
      values_(row_length_ * row_count_) {}

/// Calls copy(row of `values_`, number of the row).
template <class Copy>
void SharedPlane::for_each_row(const Copy& copy) {
  for (std::size_t row = 0; row < row_count_; ++row)
    copy(values_.data() + row * row_length_, static_cast<std::ptrdiff_t>(row));
}

void SharedPlane::publish(const double* plane, std::ptrdiff_t stride, std::int64_t sweep) {
  if (delivery_ == comm_thread::Delivery::async) {
    const std::scoped_lock lock(mutex_);
    for_each_row([&](double* values, std::ptrdiff_t row) {
      std::copy_n(plane + row * stride, row_length_, values);
    });
    sweep_.store(sweep, std::memory_order_relaxed);
    return;
  }
  for_each_row([&](double* values, std::ptrdiff_t row) {
    store_elements(plane + row * stride, row_length_, values);
  });
  sweep_.store(sweep, std::memory_order_release);
}

std::int64_t SharedPlane::take(double* plane, std::ptrdiff_t stride) {
  if (delivery_ == comm_thread::Delivery::async) {
    const std::scoped_lock lock(mutex_);
    for_each_row([&](double* values, std::ptrdiff_t row) {
      std::copy_n(values, row_length_, plane + row * stride);
    });
    return sweep_.load(std::memory_order_relaxed);
  }
  const std::int64_t sweep = sweep_.load(std::memory_order_acquire);
  for_each_row([&](double* values, std::ptrdiff_t row) {
    load_elements(values, row_length_, plane + row * stride);
  });
  return sweep;
}

}  // namespace weft::solver
