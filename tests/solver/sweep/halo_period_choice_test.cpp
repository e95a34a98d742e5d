#include "solver/sweep/halo_period_choice.h"

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::solver {
namespace {

/// A run of sweeps of 1 ms with two neighbours; each message takes `copy_seconds` to pack or to
/// unpack, and the channels together carry `room` messages a sweep.
class Run {
 public:
  Run(double copy_seconds, double room) : copy_seconds_(copy_seconds), room_(room) {}

  int sweep(int sweep_count) {
    for (int i = 0; i < sweep_count; ++i, ++iteration_) sweep();
    return choice_.period();
  }

  HaloPeriodChoice& choice() { return choice_; }

 private:
  void sweep() {
    HaloPeriodChoice::Sweep sweep{.sweep_seconds = 1e-3};
    allowed_ = std::min(allowed_ + room_, 2.0);
    if (iteration_ % choice_.period() == 0)
      for (int neighbour = 0; neighbour < 2; ++neighbour) {
        const bool has_room = allowed_ >= 1;
        allowed_ -= has_room;
        sweep.sent_count += has_room;
        sweep.skipped_count += !has_room;
        sweep.unpacked_count += has_room;
      }
    sweep.copy_seconds =
        copy_seconds_ * static_cast<double>(sweep.sent_count + sweep.unpacked_count);
    choice_.add(sweep);
  }

  double copy_seconds_;
  double room_;
  double allowed_ = 0;
  int iteration_ = 0;
  HaloPeriodChoice choice_;
};

TEST_CASE("while copying is cheap and channels keep up, halos go out after every sweep") {
  CHECK(HaloPeriodChoice().period() == 1);
  CHECK(Run(10e-6, 2).sweep(2000) == 1);
  CHECK(Run(0, 2).sweep(2000) == 1);
}

TEST_CASE("the first choice is made after one window, and changes by a factor of 2 at most") {
  Run run(1e-3, 2);
  CHECK(run.sweep(HaloPeriodChoice::window - 1) == 1);
  CHECK(run.sweep(1) == 2);
  CHECK(run.sweep(HaloPeriodChoice::window - 1) == 2);
  CHECK(run.sweep(1) == 4);
}

TEST_CASE("the period is the shortest with which copying takes a twentieth of the sweeps") {
  // 4 copies of 40 µs a round are 160 µs; a twentieth of 4 sweeps is 200 µs, of 3 only 150 µs.
  CHECK(Run(40e-6, 2).sweep(2000) == 4);
  CHECK(Run(100e-6, 2).sweep(2000) == 8);
  CHECK(Run(1, 2).sweep(20000) == HaloPeriodChoice::longest);
}

TEST_CASE("the period grows until channels keep up") {
  // One message per sweep although two are needed: every second sweep.
  Run run(0, 1);
  run.sweep(2000);
  std::vector<int> periods;
  for (int i = 0; i < 1000; ++i) periods.push_back(run.sweep(1));
  CHECK(*std::ranges::max_element(periods) <= 4);
  CHECK(*std::ranges::min_element(periods) >= 1);
  CHECK(std::ranges::count(periods, 1) < 500);
  CHECK(Run(0, 0).sweep(20000) == HaloPeriodChoice::longest);
}

TEST_CASE("copies that are slow in one window do no harm, those without room little") {
  Run run(1e-6, 2);
  run.sweep(10 * HaloPeriodChoice::window);
  run.choice().add({.sweep_seconds = 1e-3, .copy_seconds = 1, .sent_count = 2});
  CHECK(run.sweep(HaloPeriodChoice::window) == 1);
  run.choice().add({.sweep_seconds = 1e-3, .sent_count = 1, .skipped_count = 99});
  CHECK(run.sweep(HaloPeriodChoice::window) == 2);
  CHECK(run.sweep(20 * HaloPeriodChoice::window) == 1);
}

TEST_CASE("when channels have room again the period falls back") {
  Run run(0, 2);
  for (int i = 0; i < 20 * HaloPeriodChoice::window; ++i)
    run.choice().add({.sweep_seconds = 1e-3, .skipped_count = 2});
  CHECK(run.choice().period() == HaloPeriodChoice::longest);
  run.sweep(HaloPeriodChoice::longest);
  CHECK(run.choice().period() >= HaloPeriodChoice::longest / 4);
  CHECK(run.sweep(20000) == 1);
}

TEST_CASE("without anything to send nothing changes") {
  HaloPeriodChoice choice;
  for (int i = 0; i < 1000; ++i) choice.add({.sweep_seconds = 1e-3});
  CHECK(choice.period() == 1);
  for (int i = 0; i < 1000; ++i)
    choice.add({.sweep_seconds = 1e-3, .copy_seconds = 1, .unpacked_count = 1});
  CHECK(choice.period() == 1);
}

}  // namespace
}  // namespace weft::solver
