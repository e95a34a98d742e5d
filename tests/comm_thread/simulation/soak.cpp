#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/input_error.h"
#include "tests/comm_thread/simulation/adversarial_run.h"

namespace {

using weft::comm_thread::AdversarialOutcome;
using weft::comm_thread::DetectorKind;

/// Prints one line and returns true if the run has a fault.
bool report_fault(DetectorKind detector, std::uint64_t seed) {
  const AdversarialOutcome outcome =
      weft::comm_thread::run_adversarially({.detector = detector, .seed = seed});
  if (outcome.fault.empty()) return false;
  std::printf("%s: %s; replay with --detector %s --seed %llu\n", name(detector).c_str(),
              outcome.fault.c_str(), name(detector).c_str(), static_cast<unsigned long long>(seed));
  return true;
}

}  // namespace

int main(int argument_count, char** arguments) {
  CLI::App program("Runs the detectors of asynchronous iterations under adversarial schedules.",
                   "soak");
  std::uint64_t run_count = 10'000;
  std::uint64_t seed = 0;
  std::string detector;
  program.add_option("--runs", run_count, "runs of each detector")->capture_default_str();
  program.add_option("--seed", seed, "one run with this seed instead");
  program.add_option("--detector", detector, "flags, residual, all-reduce or snapshot alone");
  CLI11_PARSE(program, argument_count, arguments);
  std::vector<DetectorKind> kinds{DetectorKind::flags, DetectorKind::residual,
                                  DetectorKind::all_reduce, DetectorKind::snapshot};
  try {
    if (!detector.empty()) kinds = {weft::comm_thread::detector_kind(detector)};
  } catch (const weft::comm_thread::InputError& error) {
    std::fprintf(stderr, "soak: %s\n", error.what());
    return 2;
  }
  std::uint64_t fault_count = 0;
  for (const DetectorKind kind : kinds) {
    const std::uint64_t first = seed > 0 ? seed : 1;
    const std::uint64_t last = seed > 0 ? seed : run_count;
    std::uint64_t faults = 0;
    for (std::uint64_t s = first; s <= last; ++s) faults += report_fault(kind, s);
    std::printf("%s: %llu runs, %llu faults\n", name(kind).c_str(),
                static_cast<unsigned long long>(last - first + 1),
                static_cast<unsigned long long>(faults));
    std::fflush(stdout);
    fault_count += faults;
  }
  return fault_count == 0 ? 0 : 1;
}
