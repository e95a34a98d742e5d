#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "perfmodel/core_bounds.h"
#include "perfmodel/roofline.h"

namespace weft::library {

/// Kernel of the solvers that `weft roofline` runs, with its modelled traffic.
struct RooflineKernel {
  std::string name;  // for options and reports: "crs-local"
  std::string what;  // "y = A x, CRS, interior rows"
  perfmodel::Traffic memory;  // of this rank and one run
  /// Traffic between the second-level cache and the cores, if data stays there on purpose.
  perfmodel::Traffic cache{};
  double data_bytes = 0;  // of this rank: all that it touches
  perfmodel::CoreWork core{};  // of this rank: what its loop does beside the transfer
  /// The loops that take turns, where there are several.
  std::vector<perfmodel::LoopShare> loops{};
  /// The whole share of a thread, once.
  std::function<void(const comm_thread::TeamThread&)> run;
  /// About a millisecond of the same work on data that fits into half of a core's second-level
  /// cache; returns how many times the share of the thread that was.
  std::function<double(const comm_thread::TeamThread&)> run_in_cache{};
  double nonzeros = 0;  // of this rank, where x is loaded through column numbers
  double reload_bytes = 0;  // of x, loaded again, as simulated
  int width = 1;  // vectors that a product of it multiplies
};

/// Elements that a kernel handles in cache per call of `run_in_cache`.
inline constexpr double elements_in_cache = 1 << 19;

}  // namespace weft::library
