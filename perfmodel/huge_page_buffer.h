#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace weft::perfmodel {

/// Maps `bytes` of zero pages, aligned to 2 MiB if large, and asks for huge pages.
/// Throws std::bad_alloc.
void* map_pages(std::size_t bytes);
void unmap_pages(void* pages, std::size_t bytes);

/// The same for an array, which begins at a multiple of 64 bytes, but at another place of a page
/// than the arrays before it. Processors of Intel compare the last 12 bits of addresses first: a
/// load waits for a store to another array at the same place of a page. Measured on one core of an
/// Emerald Rapids, 200³ points: sweeps in time blocks 305 -> 109 ms, grid-cg-pass 33 -> 18 ms,
/// grid-cg-residual 17 -> 11 ms; on Zen the same times.
///
/// Below 2 MiB it is memory of the C library, which keeps what is given back: the first touch of
/// small pages took half of a set-up of multigrid for 400² points. The thread that makes such an
/// array touches it; calloc, which leaves new pages to those who use them, took 8 to 18 % longer.
void* map_array(std::size_t bytes);
void unmap_array(void* array, std::size_t bytes);

/// Memory that an array of `size` bytes occupies of which [begin, end) is in use: whole pages, huge
/// ones if it is as large, as `map_pages` has them.
double bytes_of_pages(double begin, double end, double size);

/// Asks for huge pages for memory between `begin` and `end` that is in use already. Does nothing
/// where the system cannot.
void prefer_huge_pages(const void* begin, const void* end);

/// Array of `Value`, of 2 MiB and more on pages that no thread has touched yet; elements read as
/// zero.
///
/// The thread that first writes to a page determines its NUMA domain, so each thread of the compute
/// team fills the share of a large array that it will use. Huge pages raised the load bandwidth of
/// two threads from 37 to 49 GB/s in some runs. Shape: [size]. Move-only. A borrowed buffer is
/// memory of somebody else, which it neither touches first nor frees.
template <class Value>
class HugePageBuffer {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  HugePageBuffer() = default;
  explicit HugePageBuffer(std::size_t size)
      : data_(size ? static_cast<Value*>(map_array(size * sizeof(Value))) : nullptr), size_(size) {}
  /// Lifetime: `values` outlive the buffer.
  static HugePageBuffer borrow(std::span<Value> values) {
    HugePageBuffer buffer;
    buffer.data_ = values.data();
    buffer.size_ = values.size();
    buffer.is_borrowed_ = true;
    return buffer;
  }
  ~HugePageBuffer() {
    if (data_ && !is_borrowed_) unmap_array(data_, size_ * sizeof(Value));
  }
  HugePageBuffer(HugePageBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        is_borrowed_(std::exchange(other.is_borrowed_, false)) {}
  HugePageBuffer& operator=(HugePageBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(is_borrowed_, other.is_borrowed_);
    return *this;
  }
  HugePageBuffer(const HugePageBuffer&) = delete;
  HugePageBuffer& operator=(const HugePageBuffer&) = delete;

  Value* data() { return data_; }
  const Value* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<Value> span() { return {data_, size_}; }
  std::span<const Value> span() const { return {data_, size_}; }
  Value& operator[](std::size_t i) { return data_[i]; }
  const Value& operator[](std::size_t i) const { return data_[i]; }

 private:
  Value* data_ = nullptr;
  std::size_t size_ = 0;
  bool is_borrowed_ = false;
};

}  // namespace weft::perfmodel
