#include "solver/threads/shared_plane.h"

#include <algorithm>

namespace weft::solver {
namespace {

using comm_thread::Delivery;

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
      values_((delivery == Delivery::async ? 3 : 1) * row_length_ * row_count_) {}

template <class Copy>
void SharedPlane::for_each_row(std::uint32_t slot, const Copy& copy) {
  double* const plane = values_.data() + slot * row_length_ * row_count_;
  for (std::size_t row = 0; row < row_count_; ++row)
    copy(plane + row * row_length_, static_cast<std::ptrdiff_t>(row));
}

void SharedPlane::publish(const double* plane, std::ptrdiff_t stride, std::int64_t sweep) {
  if (delivery_ == Delivery::async) {
    for_each_row(back_, [&](double* values, std::ptrdiff_t row) {
      std::copy_n(plane + row * stride, row_length_, values);
    });
    sweeps_[back_] = sweep;
    back_ = swap_.give(back_);
    return;
  }
  for_each_row(0, [&](double* values, std::ptrdiff_t row) {
    store_elements(plane + row * stride, row_length_, values);
  });
  racy_sweep_.store(sweep, std::memory_order_release);
}

std::int64_t SharedPlane::take(double* plane, std::ptrdiff_t stride) {
  if (delivery_ == Delivery::async) {
    front_ = swap_.take(front_);
    for_each_row(front_, [&](const double* values, std::ptrdiff_t row) {
      std::copy_n(values, row_length_, plane + row * stride);
    });
    return sweeps_[front_];
  }
  const std::int64_t sweep = racy_sweep_.load(std::memory_order_acquire);
  for_each_row(0, [&](double* values, std::ptrdiff_t row) {
    load_elements(values, row_length_, plane + row * stride);
  });
  return sweep;
}

}  // namespace weft::solver
