#include "comm_thread/placement/number_words.h"

#include <vector>

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

using Numbers = std::vector<unsigned>;

TEST_CASE("lists of numbers are short") {
  CHECK(format_list(Numbers{}).empty());
  CHECK(format_list(Numbers{3}) == "3");
  CHECK(format_list(Numbers{0, 1}) == "0,1");
  CHECK(format_list(Numbers{0, 1, 2, 3, 7, 9, 10, 11}) == "0-3,7,9-11");
}

TEST_CASE("counted things have a plural") {
  CHECK(counted(0, "core") == "0 cores");
  CHECK(counted(1, "core") == "1 core");
  CHECK(counted(2, "NUMA domain") == "2 NUMA domains");
}

}  // namespace
}  // namespace weft::comm_thread
