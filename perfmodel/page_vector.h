#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "perfmodel/page_stock.h"

namespace weft::perfmodel {

/// Allocator of large arrays that grow, on huge pages of the stock. New elements are not
/// initialised, so that `resize` touches no page.
template <class Value>
class PageAllocator {
 public:
  using value_type = Value;

  PageAllocator() = default;
  template <class Other>
  explicit PageAllocator(const PageAllocator<Other>& /*other*/) {}

  Value* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(Value);
    return static_cast<Value*>(bytes < least_bytes ? ::operator new(bytes)
                                                   : PageStock::take(bytes));
  }
  void deallocate(Value* values, std::size_t count) {
    const std::size_t bytes = count * sizeof(Value);
    if (bytes < least_bytes)
      ::operator delete(values);
    else
      PageStock::give_back(values, bytes);
  }
  template <class Other, class... Arguments>
  void construct(Other* place, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0)
      ::new (static_cast<void*>(place)) Other;
    else
      ::new (static_cast<void*>(place)) Other{std::forward<Arguments>(arguments)...};
  }

  friend bool operator==(const PageAllocator&, const PageAllocator&) { return true; }

 private:
  static constexpr std::size_t least_bytes = 8 * PageStock::grain_bytes;
};

template <class Value>
using PageVector = std::vector<Value, PageAllocator<Value>>;

/// Array that is made as large as it may become, and then cut to what it has become: the pages
/// behind that go back to the stock. Elements are not initialised. Shape: [size]. Move-only.
template <class Value>
class PageArray {
  static_assert(std::is_trivially_copyable_v<Value> && PageStock::grain_bytes % sizeof(Value) == 0);

 public:
  /// Smaller arrays are memory of the C library, and keep their size.
  static constexpr std::size_t least_size = 8 * PageStock::grain_bytes / sizeof(Value);

  PageArray() = default;
  explicit PageArray(std::size_t size) : size_(size) {
    const std::size_t bytes = size * sizeof(Value);
    if (size > 0)
      data_ =
          static_cast<Value*>(size < least_size ? ::operator new(bytes) : PageStock::take(bytes));
  }
  ~PageArray() {
    if (size_ < least_size)
      ::operator delete(data_);
    else
      PageStock::give_back(data_, size_ * sizeof(Value));
  }
  PageArray(PageArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PageArray& operator=(PageArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  PageArray(const PageArray&) = delete;
  PageArray& operator=(const PageArray&) = delete;

  /// Leaves to others the whole pages behind `size` elements, which are no more than there are.
  void trim(std::size_t size) {
    constexpr std::size_t grain = PageStock::grain_bytes / sizeof(Value);
    const std::size_t kept = std::max(round_up(size, grain), least_size);
    const std::size_t all = round_up(size_, grain);
    if (kept >= all) return;
    PageStock::give_back(data_ + kept, (all - kept) * sizeof(Value));
    size_ = kept;
  }

  Value* data() { return data_; }
  const Value* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  Value* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weft::perfmodel
