#include "tests/comm_thread/termination/termination_model.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/comm_thread/termination/exhaustive_search.h"

namespace weft::comm_thread {
namespace {

constexpr std::size_t state_limit = 3'000'000;

tests::SearchResult search(const ModelScenario& scenario) {
  return tests::search_exhaustively(TerminationModel(scenario), state_limit);
}

/// Searches every order of steps for a violation. Returns the largest number of failed
/// verifications in one run.
std::size_t check_is_safe(const ModelScenario& scenario, std::size_t fewest_states) {
  const tests::SearchResult result = search(scenario);
  CHECK(result.violation == "");
  CHECK(result.is_complete);
  CHECK(result.stuck_count == 0);
  CHECK(result.end_count > 0);
  CHECK(result.state_count > fewest_states);
  return result.most_retries;
}

std::string violation_with(ModelDetector detector, ModelFault fault) {
  return search({.detector = detector, .initial = {3, 3}, .fault = fault}).violation;
}

TEST_CASE("in no order of steps do flags end a run unverified, or keep it from ending") {
  using enum ModelDetector;
  CHECK(check_is_safe({.detector = flags, .initial = {3, 3}}, 40'000) > 0);
  check_is_safe({.detector = flags, .initial = {0, 3}, .giving_up_rank = 0}, 20'000);
  check_is_safe({.detector = flags, .initial = {3, 3}, .threshold = 1, .giving_up_rank = 1},
                40'000);
  check_is_safe({.detector = flags, .initial = {2, 0, 0}, .giving_up_rank = 2}, 40'000);
  check_is_safe({.detector = flags, .initial = {0, 0, 3}}, 300'000);
}

TEST_CASE("in no order of steps does the residual end a run unverified, or keep it from ending") {
  using enum ModelDetector;
  CHECK(check_is_safe({.detector = residual, .initial = {3, 3}}, 40'000) > 0);
  check_is_safe({.detector = residual, .initial = {0, 3}, .giving_up_rank = 0}, 20'000);
  check_is_safe({.detector = residual,
                 .initial = {3, 3},
                 .threshold = 1,
                 .operation = ReduceOperation::max,
                 .giving_up_rank = 1},
                40'000);
  check_is_safe({.detector = residual, .initial = {0, 0, 3}}, 150'000);
}

TEST_CASE("in no order of steps does the snapshot detector fire falsely") {
  using enum ModelDetector;
  check_is_safe({.detector = snapshot, .initial = {3, 3}}, 150'000);
  check_is_safe({.detector = snapshot, .initial = {0, 3}, .giving_up_rank = 0}, 70'000);
  // The recorded vector may have converged when the current one has not.
  CHECK(check_is_safe({.detector = snapshot,
                       .initial = {0, 5},
                       .threshold = 1,
                       .operation = ReduceOperation::max},
                      500'000) > 0);
  check_is_safe({.detector = snapshot, .initial = {2, 0, 0}}, 80'000);
}

TEST_CASE("the search finds what is done wrong") {
  using enum ModelDetector;
  const std::string unverified = "ended without having converged";
  CHECK(violation_with(flags, ModelFault::trusts_detection) == unverified);
  CHECK(violation_with(residual, ModelFault::trusts_detection) == unverified);
  const std::string taken_back = "fired on a flag that was taken back";
  CHECK(violation_with(flags, ModelFault::no_retraction) == taken_back);
  CHECK_FALSE(violation_with(flags, ModelFault::no_epochs).empty());
  CHECK(violation_with(residual, ModelFault::no_epochs) ==
        "fired before all ranks had swept in this epoch");
  const std::string fired_falsely = "the snapshot detector fired falsely";
  CHECK(violation_with(snapshot, ModelFault::live_halo_in_snapshot) == fired_falsely);
  CHECK(violation_with(snapshot, ModelFault::live_value_in_snapshot) == fired_falsely);
}

TEST_CASE("the search finds runs that cannot end any more") {
  const tests::SearchResult result = search({.detector = ModelDetector::snapshot,
                                             .initial = {0, 3},
                                             .giving_up_rank = 0,
                                             .fault = ModelFault::skips_late_snapshot});
  CHECK(result.is_complete);
  CHECK(result.stuck_count > 0);
}

}  // namespace
}  // namespace weft::comm_thread
