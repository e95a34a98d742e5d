#include "perfmodel/huge_page_buffer.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

using weft::perfmodel::HugePageBuffer;

namespace {

std::uintptr_t place_in_page(const HugePageBuffer<double>& array) {
  return reinterpret_cast<std::uintptr_t>(array.data()) % 4096;
}

}  // namespace

TEST_CASE("successive arrays begin at different places of a page, whatever their size") {
  std::vector<HugePageBuffer<double>> arrays;
  // 8 kB, 2 MiB and 4 MiB but for one element, exactly, and by one element more.
  for (const std::size_t size : {1000U, 262143U, 262144U, 262145U, 524287U, 524288U, 524289U})
    arrays.emplace_back(size);
  std::set<std::uintptr_t> places;
  for (HugePageBuffer<double>& array : arrays) {
    places.insert(place_in_page(array));
    CHECK(place_in_page(array) % 64 == 0);
    CHECK(std::ranges::all_of(array.span(), [](double value) { return value == 0; }));
    std::ranges::fill(array.span(), 1.0);
  }
  CHECK(places.size() == arrays.size());
}

TEST_CASE("an array that goes leaves its neighbours alone") {
  HugePageBuffer<double> before(524288);
  HugePageBuffer<double> after;
  {
    HugePageBuffer<double> between(524288);
    std::ranges::fill(between.span(), 2.0);
    after = HugePageBuffer<double>(524288);
    std::ranges::fill(before.span(), 1.0);
    std::ranges::fill(after.span(), 3.0);
  }
  CHECK(std::ranges::all_of(before.span(), [](double value) { return value == 1; }));
  CHECK(std::ranges::all_of(after.span(), [](double value) { return value == 3; }));
}
