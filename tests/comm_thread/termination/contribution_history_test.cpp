#include "comm_thread/termination/contribution_history.h"

#include <cmath>
#include <cstdint>

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

TEST_CASE("a history answers with what was newest at a time") {
  ContributionHistory history;
  CHECK(std::isinf(history.contribution_at(5)));
  CHECK(history.iteration_at(5) == 0);
  history.record(1, 0.5, 10);
  history.record(2, 0.25, 20);
  CHECK(std::isinf(history.contribution_at(0.9)));
  CHECK(history.contribution_at(1) == 0.5);
  CHECK(history.contribution_at(1.9) == 0.5);
  CHECK(history.contribution_at(2) == 0.25);
  CHECK(history.iteration_at(100) == 20);
}

TEST_CASE("a long history stays small and covers the whole time evenly") {
  ContributionHistory history;
  constexpr std::uint64_t count = 1'000'000;
  for (std::uint64_t i = 1; i <= count; ++i)
    history.record(static_cast<double>(i), 1.0 / static_cast<double>(i), i);
  CHECK(history.samples().size() <= ContributionHistory::capacity);
  CHECK(history.samples().size() >= ContributionHistory::capacity / 4);
  int wrong = 0;
  for (std::uint64_t i = 1000; i <= count; i += 997) {
    const std::uint64_t known = history.iteration_at(static_cast<double>(i));
    wrong += known > i || i - known > count / (ContributionHistory::capacity / 4);
    wrong += history.contribution_at(static_cast<double>(i)) != 1.0 / static_cast<double>(known);
  }
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace weft::comm_thread
