#include "comm_thread/termination/sweep_protocol.h"

#include <cmath>

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

const SweepState state{.contribution = 0.5, .is_converged = true};

TEST_CASE("sweeps go on until there is a verdict for this epoch") {
  SweepProtocol protocol(1);
  CHECK(protocol.after_sweep(state, {1, Verdict::none, 0}, true) == SweepAction::sweep);
  CHECK(protocol.signal().contribution == 0.5);
  CHECK(protocol.signal().is_converged);
  CHECK(protocol.after_sweep(state, {1, Verdict::converged, 0}, true) == SweepAction::verify);
}

TEST_CASE("a failed verification begins the next epoch, in which nothing is known") {
  SweepProtocol protocol(1);
  protocol.after_sweep(state, {1, Verdict::converged, 0}, true);
  CHECK_FALSE(protocol.verified(1.5));
  CHECK(protocol.signal().epoch == 2);
  CHECK(std::isinf(protocol.signal().contribution));
  CHECK_FALSE(protocol.signal().is_converged);
  CHECK(protocol.after_sweep(state, {1, Verdict::converged, 0}, true) == SweepAction::sweep);
  CHECK(protocol.after_sweep(state, {2, Verdict::converged, 0}, true) == SweepAction::verify);
  CHECK(protocol.verified(1));
  CHECK(protocol.has_converged());
  CHECK(protocol.signal().has_ended);
}

TEST_CASE("a run that gave up ends with its verification, and says what that found") {
  for (const double value : {0.5, 1.5, std::nan("")}) {
    SweepProtocol protocol(1);
    protocol.after_sweep(state, {1, Verdict::gave_up, 0}, true);
    CHECK(protocol.verified(value));
    CHECK(protocol.has_converged() == (value == 0.5));
  }
}

TEST_CASE("NaN is no convergence") {
  SweepProtocol protocol(1);
  protocol.after_sweep(state, {1, Verdict::converged, 0}, true);
  CHECK_FALSE(protocol.verified(std::nan("")));
}

TEST_CASE("a snapshot is recorded, sweeps go on, and it is evaluated when it has arrived") {
  SweepProtocol protocol(1);
  const SweepOrder order{1, Verdict::none, 1};
  CHECK(protocol.after_sweep(state, order, true) == SweepAction::record_snapshot);
  protocol.snapshot_recorded();
  CHECK(protocol.after_sweep(state, order, false) == SweepAction::sweep);
  CHECK(protocol.after_sweep(state, order, true) == SweepAction::evaluate_snapshot);
  protocol.snapshot_evaluated(0.25);
  CHECK(protocol.signal().evaluated_snapshot == 1);
  CHECK(protocol.signal().snapshot_contribution == 0.25);
  CHECK(protocol.after_sweep(state, order, true) == SweepAction::sweep);
}

TEST_CASE("a snapshot that neighbours wait for is recorded before the last verification") {
  SweepProtocol protocol(1);
  const SweepOrder order{1, Verdict::gave_up, 1};
  CHECK(protocol.after_sweep(state, order, true) == SweepAction::record_snapshot);
  protocol.snapshot_recorded();
  CHECK(protocol.after_sweep(state, order, false) == SweepAction::verify);
}

}  // namespace
}  // namespace weft::comm_thread
