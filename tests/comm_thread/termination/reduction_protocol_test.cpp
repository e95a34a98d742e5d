#include "comm_thread/termination/reduction_protocol.h"

#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using Values = std::vector<double>;

Values contribution(const ReductionProtocol& protocol, const SweepSignal& signal) {
  Values values(protocol.operations().size());
  protocol.fill_contribution(signal, values);
  return values;
}

TEST_CASE("without snapshots the first estimate within the threshold is the verdict") {
  ReductionProtocol protocol({.threshold = 1, .rank_count = 3});
  protocol.take_result(Values{1.5, 0});
  CHECK(protocol.order().verdict == Verdict::none);
  protocol.take_result(Values{1, 0});
  CHECK(protocol.order() == SweepOrder{1, Verdict::converged, 0});
}

TEST_CASE("a rank that gives up ends the epoch whatever the estimate") {
  for (const bool confirms : {false, true}) {
    ReductionProtocol protocol({.threshold = 1, .rank_count = 3, .confirms_by_snapshot = confirms});
    protocol.take_result(Values{0, 1, 0, 0});
    CHECK(protocol.order().verdict == Verdict::gave_up);
  }
}

TEST_CASE("before the first sweep of an epoch, and with NaN, a contribution is infinite") {
  ReductionProtocol protocol({.threshold = 1, .rank_count = 3});
  SweepSignal signal;
  CHECK(contribution(protocol, signal) == Values{infinity, 0});
  signal.contribution = std::nan("");
  CHECK(contribution(protocol, signal) == Values{infinity, 0});
  signal.contribution = 0.5;
  signal.gives_up = true;
  CHECK(contribution(protocol, signal) == Values{0.5, 1});
  protocol.take_result(Values{0.5, 0});
  SweepSignal next;
  next.epoch = 2;
  protocol.resume(next);
  CHECK(protocol.order() == SweepOrder{2, Verdict::none, 0});
  CHECK(contribution(protocol, signal)[0] == infinity);  // of the epoch before
}

TEST_CASE("with snapshots the estimate opens one, and its value decides when all are ready") {
  ReductionProtocol protocol({.threshold = 1, .rank_count = 3, .confirms_by_snapshot = true});
  SweepSignal signal;
  signal.contribution = 0.25;
  CHECK(contribution(protocol, signal) == Values{0.25, 0, 0, 0});
  protocol.take_result(Values{0.75, 0, 0, 0});
  CHECK(protocol.order() == SweepOrder{1, Verdict::none, 1});

  CHECK(contribution(protocol, signal) == Values{0.25, 0, 0, 0});
  signal.evaluated_snapshot = 1;
  signal.snapshot_contribution = 0.5;
  CHECK(contribution(protocol, signal) == Values{0.25, 0, 0.5, 1});
  protocol.take_result(Values{5, 0, 0.5, 2});
  CHECK(protocol.order().verdict == Verdict::none);

  SECTION("above the threshold: the next estimate opens the next") {
    protocol.take_result(Values{0, 0, 1.5, 3});
    CHECK(protocol.order() == SweepOrder{1, Verdict::none, 1});
    CHECK(contribution(protocol, signal) == Values{0.25, 0, 0, 0});
    protocol.take_result(Values{0, 0, 0, 0});
    CHECK(protocol.order() == SweepOrder{1, Verdict::none, 2});
    CHECK(contribution(protocol, signal) == Values{0.25, 0, 0, 0});
  }
  SECTION("within: converged, even where the estimate has risen") {
    protocol.take_result(Values{5, 0, 1, 3});
    CHECK(protocol.order() == SweepOrder{1, Verdict::converged, 1});
  }
}

}  // namespace
}  // namespace weft::comm_thread
