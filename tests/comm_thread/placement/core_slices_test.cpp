#include "comm_thread/placement/core_slices.h"

#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

/// One unit per entry of `domains`, the NUMA domain it is in.
std::vector<CoreUnit> units_in(const std::vector<unsigned>& domains) {
  std::vector<CoreUnit> units;
  for (const unsigned domain : domains) units.push_back({domain, {units.size()}});
  return units;
}

std::vector<std::size_t> sizes(const std::vector<CoreSlice>& slices) {
  std::vector<std::size_t> sizes;
  std::size_t end = 0;
  for (const CoreSlice& slice : slices) {
    CHECK(slice.begin == end);
    end = slice.end;
    sizes.push_back(slice.size());
  }
  return sizes;
}

using Sizes = std::vector<std::size_t>;

TEST_CASE("slices of one domain differ by at most one unit") {
  CHECK(sizes(cut_slices(units_in({0, 0, 0, 0, 0}), 2, 0)) == Sizes{2, 3});
  CHECK(sizes(cut_slices(units_in({0, 0, 0, 0, 0}), 5, 0)) == Sizes{1, 1, 1, 1, 1});
}

TEST_CASE("slices end where domains end") {
  CHECK(sizes(cut_slices(units_in({0, 0, 0, 1, 1}), 2, 0)) == Sizes{3, 2});
  CHECK(sizes(cut_slices(units_in({0, 0, 0, 0, 1, 1}), 3, 0)) == Sizes{2, 2, 2});
}

TEST_CASE("fewer slices than domains consist of whole domains") {
  CHECK(sizes(cut_slices(units_in({0, 0, 1, 1, 2, 2, 3, 3}), 2, 0)) == Sizes{4, 4});
}

TEST_CASE("slices cross domains for threads that would not fit otherwise") {
  const std::vector<CoreUnit> units = units_in({0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(sizes(cut_slices(units, 3, 0)) == Sizes{2, 2, 4});
  CHECK(sizes(cut_slices(units, 3, 2)) == Sizes{2, 2, 4});
  CHECK(sizes(cut_slices(units_in({0, 0, 1, 1, 1, 1, 1, 1}), 2, 4)) == Sizes{4, 4});
}

}  // namespace
}  // namespace weft::comm_thread
