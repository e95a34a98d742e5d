#include "comm_thread/placement/finding.h"

#include <vector>

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

TEST_CASE("only a refused finding forbids to run") {
  std::vector<PlacementFinding> findings;
  CHECK_FALSE(is_refused(findings));
  findings = {{FindingSeverity::note, "a"}, {FindingSeverity::warning, "b"}};
  CHECK_FALSE(is_refused(findings));
  findings.push_back({FindingSeverity::refused, "c"});
  CHECK(is_refused(findings));
}

TEST_CASE("severities have names") {
  CHECK(to_string(FindingSeverity::note) == "note");
  CHECK(to_string(FindingSeverity::repaired) == "repaired");
  CHECK(to_string(FindingSeverity::warning) == "warning");
  CHECK(to_string(FindingSeverity::refused) == "refused");
}

}  // namespace
}  // namespace weft::comm_thread
