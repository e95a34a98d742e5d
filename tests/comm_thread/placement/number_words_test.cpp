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

TEST_CASE("short lists are read, and what is none is empty") {
  CHECK(parse_list("3") == Numbers{3});
  CHECK(parse_list("8,0-2,1,2") == Numbers{0, 1, 2, 8});
  CHECK(parse_list(format_list(Numbers{0, 1, 5, 6, 7})) == Numbers{0, 1, 5, 6, 7});
  for (const char* const list :
       {"", "x", "1-", "-1", "2-1", "1,,2", "1 2", "0-4294967295", "1;2"}) {
    CAPTURE(list);
    CHECK(parse_list(list).empty());
  }
}

TEST_CASE("counted things have a plural") {
  CHECK(counted(0, "core") == "0 cores");
  CHECK(counted(1, "core") == "1 core");
  CHECK(counted(2, "NUMA domain") == "2 NUMA domains");
}

}  // namespace
}  // namespace weft::comm_thread
