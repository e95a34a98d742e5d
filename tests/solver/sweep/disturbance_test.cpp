#include "solver/sweep/disturbance.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"

namespace weft::solver {
namespace {

TEST_CASE("faults are read as they are written on the command line") {
  const Fault slow = Fault::parse("slow:3:2.5");
  CHECK(slow.kind == Fault::Kind::slow);
  CHECK(slow.rank == 3);
  CHECK(slow.amount == 2.5);
  const Fault jitter = Fault::parse("jitter:0.1");
  CHECK(jitter.kind == Fault::Kind::jitter);
  CHECK(jitter.amount == 0.1);
  const Fault stall = Fault::parse("stall:0:1e-3");
  CHECK(stall.kind == Fault::Kind::stall);
  CHECK(stall.rank == 0);
  CHECK(stall.amount == 1e-3);
  const Fault pause = Fault::parse("pause:4:0.02");
  CHECK(pause.kind == Fault::Kind::pause);
  CHECK(pause.rank == 4);
  CHECK(pause.amount == 0.02);
  CHECK(Fault::parse("slow:0:1").amount == 1);
}

TEST_CASE("what is no fault is shown, with what is known") {
  for (const std::string text : {"",
                                 "slow",
                                 "slow:1",
                                 "slow:1:2:3",
                                 "slow:-1:2",
                                 "slow:1:0.5",
                                 "slow:1:nan",
                                 "slow:1:inf",
                                 "slow:x:2",
                                 "slow:1.5:2",
                                 "slow:1:2x",
                                 "slow:1: 2",
                                 "slow:1:",
                                 "slow::2",
                                 "jitter",
                                 "jitter:0",
                                 "jitter:-1",
                                 "jitter:1:2",
                                 "stall:1:0",
                                 "stall:1:-2",
                                 "stall:99999999999:1",
                                 "stall:1:2e6",
                                 "pause:1:0",
                                 "pause:1",
                                 "fast:1:2",
                                 "Slow:1:2"}) {
    CAPTURE(text);
    try {
      Fault::parse(text);
      FAIL_CHECK("taken for a fault");
    } catch (const comm_thread::InputError& error) {
      const std::string line = error.what();
      CHECK(line.starts_with("found '" + text +
                             "'; expected slow:RANK:FACTOR, jitter:FRACTION, "
                             "stall:RANK:SECONDS or pause:RANK:SECONDS"));
      CHECK(line.find('\n') == std::string::npos);
    }
  }
}

TEST_CASE("a rank suffers its own faults only, and jitter") {
  CHECK_FALSE(Disturbance().is_active());
  CHECK_FALSE(Disturbance({Fault::parse("slow:1:2")}, 0).is_active());
  CHECK(Disturbance({Fault::parse("slow:1:2")}, 1).is_active());
  CHECK(Disturbance({Fault::parse("jitter:0.5")}, 7).is_active());
  CHECK(Disturbance().after_sweep(1000) == 0);
  CHECK(Disturbance({Fault::parse("slow:1:2")}, 0).after_sweep(1000) == 0);
}

TEST_CASE("pauses last at least as long as the faults say") {
  Disturbance slow({Fault::parse("slow:0:3"), Fault::parse("slow:0:2")}, 0);
  CHECK(slow.after_sweep(1e-3) >= 3e-3);
  CHECK(slow.after_sweep(2e-5) >= 6e-5);
}

TEST_CASE("a fixed pause follows each sweep once, whatever the sweep and its parts take") {
  constexpr double seconds = 0.01;
  Disturbance fixed({Fault::parse("pause:0:0.01")}, 0);
  CHECK(fixed.after_sweep(0) >= seconds);
  CHECK(fixed.after_sweep(1000) >= seconds);
  CHECK(fixed.after_sweep(0, 3) >= 3 * seconds);
  Disturbance in_parts({Fault::parse("pause:0:0.04")}, 0);
  in_parts.after_sweep(3, 0);  // nothing: its part is not known yet
  CHECK(in_parts.after_sweep(1) >= 4 * seconds);
  CHECK(in_parts.after_sweep(3, 0) >= 3 * seconds);
  CHECK(in_parts.after_sweep(1) >= 0.99 * seconds);
}

TEST_CASE("a rank stalls once, after its tenth sweep") {
  constexpr double long_pause = 0.02;
  Disturbance one_by_one({Fault::parse("stall:2:0.02")}, 2);
  std::vector<int> stalled_after;
  for (int sweep = 1; sweep <= 30; ++sweep)
    if (one_by_one.after_sweep(0) >= long_pause) stalled_after.push_back(sweep);
  CHECK(stalled_after == std::vector<int>{10});

  Disturbance in_passes({Fault::parse("stall:2:0.02")}, 2);
  stalled_after.clear();
  for (int sweep = 7; sweep <= 35; sweep += 7)
    if (in_passes.after_sweep(0, 7) >= long_pause) stalled_after.push_back(sweep);
  CHECK(stalled_after == std::vector<int>{14});
}

}  // namespace
}  // namespace weft::solver
