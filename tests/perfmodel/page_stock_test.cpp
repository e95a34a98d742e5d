#include "perfmodel/page_stock.h"

#include <cstddef>
#include <cstdint>

#include <catch2/catch.hpp>

#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/page_vector.h"

namespace weft::perfmodel {

TEST_CASE("pages that are given back are taken again, whole, in parts and joined") {
  constexpr std::size_t unit = PageStock::unit_bytes;
  const PageStock stock;
  auto* const pages = static_cast<std::byte*>(PageStock::take(4 * unit - 5));
  pages[4 * unit - 1] = std::byte{7};
  PageStock::give_back(pages, 4 * unit - 5);
  // The smallest region that is large enough is cut from its beginning.
  CHECK(PageStock::take(unit) == pages);
  CHECK(PageStock::take(3 * unit) == pages + unit);
  CHECK(pages[4 * unit - 1] == std::byte{7});
  PageStock::give_back(pages + unit, 3 * unit);
  PageStock::give_back(pages, unit);
  CHECK(PageStock::take(4 * unit) == pages);
  PageStock::give_back(pages, 4 * unit);
}

TEST_CASE("small arrays share a unit, which is whole again once they are gone") {
  constexpr std::size_t unit = PageStock::unit_bytes;
  constexpr std::size_t grain = PageStock::grain_bytes;
  const PageStock stock;
  auto* const first = static_cast<std::byte*>(PageStock::take(grain + 1));
  auto* const second = static_cast<std::byte*>(PageStock::take(grain));
  CHECK(second == first + 2 * grain);
  {
    // What is in use outlives a stock, and so does the rest of its unit.
    const PageStock other;
  }
  second[grain - 1] = std::byte{7};
  PageStock::give_back(first, grain + 1);
  CHECK(second[grain - 1] == std::byte{7});
  PageStock::give_back(second, grain);
  CHECK(PageStock::take(unit) == first);
  PageStock::give_back(first, unit);
}

TEST_CASE("what an array is cut by is taken again, and the rest with it at its end") {
  constexpr std::size_t grain = PageStock::grain_bytes;
  const PageStock stock;
  const std::byte* begin = nullptr;
  {
    PageArray<std::uint16_t> array(512 * grain / sizeof(std::uint16_t));
    begin = reinterpret_cast<const std::byte*>(array.data());
    array.trim(99 * grain / sizeof(std::uint16_t) + 1);
    CHECK(array.size() == 100 * grain / sizeof(std::uint16_t));
    void* const rest = PageStock::take(412 * grain);
    CHECK(rest == begin + 100 * grain);
    PageStock::give_back(rest, 412 * grain);
    array.trim(1);  // what is small would be of the C library
    CHECK(array.size() == PageArray<std::uint16_t>::least_size);
  }
  void* const all = PageStock::take(512 * grain);
  CHECK(all == begin);
  PageStock::give_back(all, 512 * grain);
  PageArray<std::uint16_t> small(5);
  small.trim(1);
  CHECK(small.size() == 5);
  PageArray<std::uint16_t>().trim(0);
}

TEST_CASE("pages of a large array are taken again while there is a stock") {
  constexpr std::size_t unit = PageStock::unit_bytes;
  constexpr std::size_t count = 2 * unit / sizeof(double);
  const PageStock stock;
  const auto fill_and_leave = [] {
    HugePageBuffer<double> array(count);
    array[count - 1] = 7;
    return reinterpret_cast<std::uintptr_t>(array.data());
  };
  const std::uintptr_t place = fill_and_leave();
  void* const pages = PageStock::take(3 * unit);  // its beginning is not that of a page
  CHECK(reinterpret_cast<std::uintptr_t>(pages) == place / unit * unit);
  PageStock::give_back(pages, 3 * unit);
  // New arrays have new pages, whose elements are zero.
  CHECK(HugePageBuffer<double>(count)[count - 1] == 0);
}

TEST_CASE("pages that nothing will take are unmapped before the stock ends") {
  constexpr std::size_t unit = PageStock::unit_bytes;
  const PageStock stock;
  auto* const pages = static_cast<std::byte*>(PageStock::take(2 * unit));
  pages[unit] = std::byte{7};
  PageStock::give_back(pages + unit, unit);
  PageStock::unmap_free();
  auto* const others = static_cast<std::byte*>(PageStock::take(unit));
  CHECK(others[0] == std::byte{0});
  PageStock::give_back(others, unit);
  PageStock::give_back(pages, unit);
}

TEST_CASE("a vector on pages keeps its elements while it grows") {
  const PageStock stock;
  PageVector<int> numbers;
  constexpr int count = 3'000'000;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += numbers[static_cast<std::size_t>(i)] != i;
  CHECK(wrong == 0);
}

}  // namespace weft::perfmodel
