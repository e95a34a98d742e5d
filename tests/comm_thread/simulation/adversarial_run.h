#pragma once

#include <cstdint>
#include <string>

#include "comm_thread/termination/detector_kind.h"

namespace weft::comm_thread {

/// A fault that is planted to see whether the runs find it.
enum class PlantedFault {
  none,
  lost_retraction,  // a flag that is taken back still says converged when it arrives
  early_latch,  // a rank ends when the detector fires, without the verification
  dropped_acknowledgement,  // one acknowledgement of a flag, or of a channel's message, is lost
};

/// One run: everything follows from it.
struct AdversarialScenario {
  DetectorKind detector = DetectorKind::flags;
  std::uint64_t seed = 1;
  PlantedFault fault = PlantedFault::none;
};

/// Outcome of a run.
struct AdversarialOutcome {
  /// What went wrong, or empty: "hangs", "ended unverified", "leaked 2 messages" …
  std::string fault;
  std::uint64_t step_count = 0;
  std::uint64_t sweep_count = 0;  // of all ranks
  std::uint64_t epoch_count = 0;  // verifications
  std::uint64_t hash = 0;  // of all that happened: the same for the same scenario
};

/// Runs an asynchronous iteration on 2 to 9 ranks in one process: the channels, landings,
/// continuous reduction, detectors and verification of the real program, on a network and threads
/// that a seed disturbs.
///
/// The seed chooses ranks, messages in flight, delivery, when messages are acknowledged, how long
/// each message travels (channels overtake each other), which rank stalls, and which compute or
/// communication thread starves and for how long. A run that makes no progress long after all
/// disturbances have ended hangs: time plays no role.
AdversarialOutcome run_adversarially(const AdversarialScenario& scenario);

}  // namespace weft::comm_thread
