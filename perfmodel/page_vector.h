#pragma once

#include <cstddef>
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

}  // namespace weft::perfmodel
