#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/termination/detector_kind.h"
#include "solver/sweep/async_iteration.h"
#include "solver/sweep/disturbance.h"
#include "solver/sweep/halo_refresh.h"
#include "spmv/modes/mode.h"

namespace weft::library {

/// When the ranks of an iteration wait for each other.
enum class IterationVariant { synchronous, async, racy };

/// What the options of weft::Iteration, `weft jacobi` and `weft schwarz` ask for, by the same names
/// and words.
struct IterationSettings {
  static constexpr int automatic_halo_period = solver::AsyncIteration::automatic_halo_period;

  IterationVariant variant = IterationVariant::synchronous;
  spmv::Mode mode = spmv::Mode::task;
  comm_thread::TransportChoice transport{};
  solver::HaloWait wait = solver::HaloWait::all;
  comm_thread::DetectorKind detector = comm_thread::DetectorKind::residual;
  double tolerance = 1e-8;
  std::int64_t max_iterations = 1'000'000;
  double fixed_seconds = 0;  // above 0: of the run, converged or not
  int check_period = 0;  // 0: 100, or 10 without waiting
  int halo_period = 1;
  int max_in_flight = 100;
  std::vector<solver::Fault> faults;

  /// From names without the leading dashes. Throws comm_thread::InputError, which names the option.
  static IterationSettings parse(const std::map<std::string, std::string>& values);

  bool is_sync() const { return variant == IterationVariant::synchronous; }
  int sweeps_per_check() const {
    if (check_period > 0) return check_period;
    return is_sync() ? 100 : 10;
  }

  /// Throws comm_thread::InputError where settings contradict each other.
  void check() const;
  /// Throws comm_thread::InputError where a fault names one who does not exist and would be ignored
  /// silently. `who`: name of the `count` who may have faults.
  void check_faults(int count, const char* who) const;
};

/// A number of sweeps, or automatic_halo_period for `auto`. Throws comm_thread::InputError.
int parse_halo_period(const std::string& text);

}  // namespace weft::library
