#include "tests/comm_thread/simulation/adversarial_run.h"

#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

constexpr std::uint64_t run_count = 200;

/// Seeds up to `run_count` whose run has a fault; the first fault in words.
struct Faults {
  std::uint64_t count = 0;
  std::string first;
};

Faults faults_of(DetectorKind detector, PlantedFault planted, std::uint64_t most_seeds) {
  Faults faults;
  for (std::uint64_t seed = 1; seed <= most_seeds; ++seed) {
    const AdversarialOutcome outcome =
        run_adversarially({.detector = detector, .seed = seed, .fault = planted});
    if (outcome.fault.empty()) continue;
    if (faults.count++ == 0)
      faults.first = name(detector) + " with seed " + std::to_string(seed) + ": " + outcome.fault;
  }
  return faults;
}

}  // namespace

TEST_CASE("no schedule makes a detector end unverified, hang or leak a message") {
  for (const DetectorKind detector : {DetectorKind::flags, DetectorKind::residual,
                                      DetectorKind::all_reduce, DetectorKind::snapshot})
    CHECK(faults_of(detector, PlantedFault::none, run_count).first.empty());
}

TEST_CASE("a run replays exactly from its seed, and another seed gives another run") {
  for (const DetectorKind detector : {DetectorKind::flags, DetectorKind::snapshot}) {
    const AdversarialOutcome first = run_adversarially({.detector = detector, .seed = 7});
    const AdversarialOutcome again = run_adversarially({.detector = detector, .seed = 7});
    const AdversarialOutcome other = run_adversarially({.detector = detector, .seed = 8});
    CHECK(first.hash == again.hash);
    CHECK(first.step_count == again.step_count);
    CHECK(first.hash != other.hash);
  }
}

TEST_CASE("the schedules find a retraction that is lost") {
  CHECK(faults_of(DetectorKind::flags, PlantedFault::lost_retraction, run_count)
            .first.find("flag that was taken back") != std::string::npos);
}

TEST_CASE("the schedules find a rank that ends as soon as the detector fires") {
  CHECK(faults_of(DetectorKind::flags, PlantedFault::early_latch, run_count)
            .first.find("unverified") != std::string::npos);
  CHECK(faults_of(DetectorKind::residual, PlantedFault::early_latch, run_count)
            .first.find("unverified") != std::string::npos);
}

TEST_CASE("the schedules find an acknowledgement that is dropped") {
  CHECK(faults_of(DetectorKind::flags, PlantedFault::dropped_acknowledgement, 5)
            .first.find("hangs") != std::string::npos);
  CHECK(faults_of(DetectorKind::residual, PlantedFault::dropped_acknowledgement, 5)
            .first.find("hangs") != std::string::npos);
}

}  // namespace weft::comm_thread
