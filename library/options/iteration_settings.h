#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/termination/detector_kind.h"
#include "library/options/option.h"
#include "solver/sweep/async_iteration.h"
#include "solver/sweep/disturbance.h"
#include "solver/sweep/halo_refresh.h"
#include "spmv/modes/mode.h"

namespace weft::library {

/// When the ranks of an iteration wait for each other.
enum class IterationVariant { synchronous, async, racy };

/// The word of --variant.
const char* name(IterationVariant variant);

/// What the options of weft::Iteration, `weft jacobi` and `weft schwarz` ask for.
struct IterationSettings {
  IterationVariant variant = IterationVariant::synchronous;
  spmv::Mode mode = spmv::Mode::task;
  comm_thread::TransportChoice transport{};
  solver::HaloWait wait = solver::HaloWait::all;
  comm_thread::DetectorKind detector = comm_thread::DetectorKind::residual;
  double tolerance = 1e-4;
  std::int64_t max_iterations = 1'000'000;
  double fixed_seconds = 0;  // above 0: of the run, converged or not
  int check_period = 0;  // 0: 100, or 25 without waiting
  /// A number of sweeps, or AsyncIteration::automatic_halo_period; nothing: 1, or automatic without
  /// waiting.
  std::optional<int> halo_period;
  int max_in_flight = 100;
  std::vector<std::string> faults;  // as solver::Fault::parse takes them

  /// From names without the leading dashes. Throws comm_thread::InputError, which names the option.
  static IterationSettings parse(const std::map<std::string, std::string>& values);

  bool is_sync() const { return variant == IterationVariant::synchronous; }
  int sweeps_per_check() const { return check_period > 0 ? check_period : is_sync() ? 100 : 25; }
  int sweeps_per_halo() const {
    return halo_period.value_or(is_sync() ? 1 : solver::AsyncIteration::automatic_halo_period);
  }
  std::vector<solver::Fault> parsed_faults() const;

  /// Throws comm_thread::InputError where settings contradict each other.
  void check() const;
  /// Throws comm_thread::InputError where a fault names one who does not exist and would be ignored
  /// silently. `who`: name of the `count` who may have faults.
  void check_faults(int count, const char* who) const;
};

/// All options of sweeps.
const OptionTable<IterationSettings>& iteration_options();

}  // namespace weft::library
