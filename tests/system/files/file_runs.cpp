#include "tests/system/files/file_runs.h"

#include <algorithm>

#include <catch2/catch.hpp>

namespace weft::tests {

int next_ranks() {
  static int ranks = 1;
  ranks = 4 - ranks;
  return ranks;
}

void convert(int ranks, const std::string& from, const std::string& to) {
  INFO(ranks << " ranks: " << from << " to " << to);
  const auto result = run_weft(ranks, {"convert", from, to, "--threads", "2"});
  INFO(result.errors);
  CHECK(result.exit_code == 0);
}

void check_refused(const ProgramResult& result, const std::string& fault) {
  INFO(result.errors);
  CHECK(result.exit_code == 2);
  CHECK(result.output == "");
  CHECK_THAT(result.errors, Catch::Contains(fault) && Catch::Contains("expected"));
  CHECK(std::count(result.errors.begin(), result.errors.end(), '\n') == 1);
}

void check_refused(const std::vector<std::string>& arguments, const std::string& fault) {
  const int ranks = next_ranks();
  INFO(ranks << " ranks");
  check_refused(run_weft(ranks, arguments), fault);
}

}  // namespace weft::tests
