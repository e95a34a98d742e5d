#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/termination/detector_kind.h"
#include "spmv/modes/mode.h"

namespace weft::library {

/// When the ranks of an iteration wait for each other.
enum class IterationVariant { synchronous, async, racy };

/// What the options of weft::Iteration ask for, by the names and words of `weft jacobi`.
struct IterationSettings {
  IterationVariant variant = IterationVariant::synchronous;
  spmv::Mode mode = spmv::Mode::task;
  comm_thread::TransportChoice transport{};
  comm_thread::DetectorKind detector = comm_thread::DetectorKind::residual;
  double tolerance = 1e-8;
  std::int64_t max_iterations = 1'000'000;
  int check_period = 0;  // 0: 100, or 10 without waiting
  int halo_period = 1;
  int max_in_flight = 100;

  /// From names without the leading dashes. Throws comm_thread::InputError, which names the option.
  static IterationSettings parse(const std::map<std::string, std::string>& values);

  int sweeps_per_check() const {
    if (check_period > 0) return check_period;
    return variant == IterationVariant::synchronous ? 100 : 10;
  }
};

}  // namespace weft::library
