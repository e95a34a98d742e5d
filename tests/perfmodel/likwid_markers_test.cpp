#include "perfmodel/likwid_markers.h"

#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "perfmodel/marked_region.h"

namespace {

using weft::perfmodel::LikwidMarkers;
using weft::perfmodel::MarkedRegion;

const char* const fake_library = "tests/perfmodel/libfake_likwid.so";

}  // namespace

TEST_CASE("regions count while the markers live") {
  {
    const MarkedRegion before("a region");
  }
  const LikwidMarkers markers(fake_library);
  markers.start_thread();
  for (int i = 0; i < 2; ++i) {
    const MarkedRegion region("a region");
  }
  const auto counts = markers.counts("a region");
  CHECK(counts.calls == 2);
  CHECK(counts.events == std::vector<double>{200, 128, 128});
  CHECK_FALSE(counts.are_zero());
  CHECK(markers.counts("another").calls == 0);
  CHECK_FALSE(markers.counts("another").are_zero());
}

TEST_CASE("without markers regions cost nothing and count nothing") {
  CHECK_FALSE(MarkedRegion::is_installed());
  const MarkedRegion region("a region");
}

TEST_CASE("a thread that counts nothing is found out") {
  const LikwidMarkers markers(fake_library);
  LikwidMarkers::Counts counts;
  std::thread([&] {
    {
      const MarkedRegion region("a region");
    }
    counts = markers.counts("a region");
  }).join();
  CHECK(counts.calls == 1);
  CHECK(counts.are_zero());
}

TEST_CASE("a library that is not there is an error that says so") {
  CHECK_THROWS_WITH(LikwidMarkers("libno_such_thing.so"), Catch::Contains("libno_such_thing.so"));
}

TEST_CASE("memory traffic is 64 bytes for each transfer of the memory controllers") {
  const auto names = weft::perfmodel::event_names(
      "INSTR_RETIRED_ANY:FIXC0,CAS_COUNT_RD:MBOX0C0,CAS_COUNT_WR:MBOX0C1|OTHER:PMC0");
  CHECK(names == std::vector<std::string>{"INSTR_RETIRED_ANY", "CAS_COUNT_RD", "CAS_COUNT_WR"});
  CHECK(weft::perfmodel::memory_bytes(names, {1000, 2, 3}) == 320);
  CHECK(weft::perfmodel::memory_bytes({"INSTR_RETIRED_ANY"}, {1000}) < 0);
}
