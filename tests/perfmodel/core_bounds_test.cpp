#include "perfmodel/core_bounds.h"

#include <array>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "perfmodel/core_probes.h"
#include "perfmodel/huge_page_buffer.h"

namespace {

using weft::perfmodel::core_bounds;
using weft::perfmodel::CoreBound;
using weft::perfmodel::CoreRates;
using weft::perfmodel::CoreWork;
using weft::perfmodel::Operations;
using weft::perfmodel::ProbeWidth;

/// Four of each a second as vectors, one of each alone, half an addition after another.
CoreRates rates() {
  const auto each = [](double rate) {
    return Operations{rate, rate / 2, rate, rate, rate, rate, rate};
  };
  return {{each(4), 8}, {each(1), 2}, 0.5};
}

CoreBound longest(const CoreWork& work) { return core_bounds(work, rates()).at(0); }

}  // namespace

TEST_CASE("each kind of operations can be the longest bound") {
  struct Case {
    Operations operations;
    const char* resource;
  };
  for (const auto& [operations, resource] :
       std::array<Case, 5>{{{{.loads = 9, .stores = 1, .additions = 8}, "loads"},
                            {{.loads = 1, .stores = 9, .additions = 8}, "stores"},
                            {{.loads = 8, .additions = 9}, "additions"},
                            {{.additions = 8, .multiplications = 9}, "multiplications"},
                            {{.additions = 8, .integer_additions = 9}, "integer additions"}}}) {
    const CoreBound bound = longest({.count = 10, .vectors = operations});
    CHECK(bound.resource == resource);
    CHECK(bound.per_element == 9);
    CHECK(bound.per_second == Approx(4));
    CHECK(bound.seconds == Approx(10 * 9.0 / 4));
  }
  CHECK(longest({.count = 1, .vectors = {.loads = 1, .shuffles = 2}}).resource == "shuffles");
}

TEST_CASE("shifted loads and operations one by one take their own time") {
  const CoreBound loads =
      longest({.count = 1, .vectors = {.loads = 4, .shifted_loads = 4}, .scalars = {.loads = 3}});
  CHECK(loads.resource == "loads");
  CHECK(loads.per_element == 11);
  CHECK(loads.seconds == Approx(1 + 2 + 3));
  CHECK(loads.per_second == Approx(11.0 / 6));
}

TEST_CASE("additions and multiplications together count where they share their units") {
  CoreRates shared = rates();
  shared.vectors.arithmetic = 4;
  const CoreWork work{.count = 1, .vectors = {.additions = 3, .multiplications = 2}};
  CHECK(longest(work).resource == "additions");
  const CoreBound both = core_bounds(work, shared).at(0);
  CHECK(both.resource == "additions and multiplications");
  CHECK(both.seconds == Approx(5.0 / 4));
}

TEST_CASE("a chain of additions takes its latency, divided by the chains in flight") {
  CoreWork work{.element = "nonzero", .count = 3, .scalars = {.loads = 1}};
  work.chain = {.additions = 1};
  CHECK(longest(work).resource == "dependent additions");
  CHECK(longest(work).seconds == Approx(6));
  work.chain.in_flight = 8;
  CHECK(longest(work).resource == "loads");
}

TEST_CASE("a bound says its count for each element and its rate") {
  CHECK(CoreBound{"additions", "row", 14, 5.9e9, 1}.text() == "additions, 14 per row at 5.9 G/s");
}

TEST_CASE("nothing that a kernel lacks bounds it") {
  CHECK(core_bounds({.count = 1}, rates()).empty());
  CHECK(core_bounds({.count = 1, .vectors = {.loads = 1}}, CoreRates{}).empty());
}

TEST_CASE("operations of parts add up") {
  const Operations sum = Operations{.loads = 1, .additions = 2} + 2 * Operations{.additions = 5};
  CHECK(sum.loads == 1);
  CHECK(sum.additions == 12);
  CHECK(sum.stores == 0);
}

TEST_CASE("all probes of the cores do as many operations as they say, whatever the width") {
  weft::perfmodel::HugePageBuffer<double> buffer(weft::perfmodel::core_probe_buffer);
  for (const auto probe : weft::perfmodel::all_core_probes)
    for (const auto width : {ProbeWidth::vector, ProbeWidth::scalar})
      CHECK(weft::perfmodel::run_core_probe(probe, width, buffer.data()) > 0);
  run_core_probe(weft::perfmodel::CoreProbe::stores, ProbeWidth::vector, buffer.data());
  CHECK(buffer[0] == 1);
  CHECK(buffer[2047] == 1);
  CHECK(buffer[2048] == 0);
}
