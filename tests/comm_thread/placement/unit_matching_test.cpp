#include "comm_thread/placement/unit_matching.h"

#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

using Units = std::vector<std::size_t>;

TEST_CASE("a rank gives way where it has another choice") {
  UnitMatching matching(2, {{0, 1}, {0}});
  matching.deal(1);
  CHECK(matching.units_of(0) == Units{1});
  CHECK(matching.units_of(1) == Units{0});
}

TEST_CASE("giving way goes on through several ranks") {
  UnitMatching matching(4, {{0, 1}, {1, 2}, {2, 3}, {0}});
  matching.deal(1);
  CHECK(matching.units_of(0) == Units{1});
  CHECK(matching.units_of(1) == Units{2});
  CHECK(matching.units_of(2) == Units{3});
  CHECK(matching.units_of(3) == Units{0});
}

TEST_CASE("nobody gets a second unit before everybody has one, or more than the limit") {
  UnitMatching matching(5, {{0, 1, 2, 3, 4}, {0, 1}});
  matching.deal(2);
  CHECK(matching.units_of(0).size() == 2);
  CHECK(matching.units_of(1) == Units{0, 1});
}

TEST_CASE("a rank that no unit is left for gets none") {
  UnitMatching matching(1, {{0}, {0}, {}});
  matching.deal(3);
  CHECK(matching.units_of(0) == Units{0});
  CHECK(matching.units_of(1).empty());
  CHECK(matching.units_of(2).empty());
}

}  // namespace
}  // namespace weft::comm_thread
