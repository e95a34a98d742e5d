#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "solver/levels/gathering.h"
#include "solver/levels/run_cycle.h"
#include "spmv/rows/halo.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// An exchange of a level, and how often a cycle makes it.
struct ExchangeReport {
  spmv::Halo* halo;
  int count;
};

/// A pass over a level, or all of its work, on this rank.
struct PassReport {
  double seconds = 0;  // of all cycles, the primary thread's, exchanges included
  double halo_wait_seconds = 0;  // of these
  double model_bytes = 0;  // of a pass over all own points; 0: there is no model
  std::int64_t sent_bytes = 0;  // of a cycle
  std::int64_t sent_messages = 0;
  std::vector<ExchangeReport> exchanges{};  // the same number on every rank

  /// Notes that a cycle makes an exchange `count` times.
  template <class Exchange>
  void add(Exchange& halo, int count) {
    exchanges.push_back({&halo, count});
    sent_bytes += count * halo.traffic().sent_bytes;
    sent_messages += count * halo.traffic().send_count;
  }
};

/// One level. Counts of rows and nonzeros are of all ranks, all else is of this one.
struct LevelReport {
  std::array<spmv::GlobalIndex, 3> grid{};  // its size; zeros where the level is no grid
  std::int64_t rows = 0;  // or points
  std::int64_t nonzeros = 0;  // of its matrix
  std::int64_t visits = 1;  // in a cycle
  bool is_direct = false;
  double largest_eigenvalue = 0;  // the bound that smoothing uses; 0 where there is none
  std::int64_t own_rows = 0;
  std::int64_t boundary_rows = 0;
  std::int64_t allocated_bytes = 0;
  double setup_seconds = 0;
  /// Of a grid down, which is the direct solution on the last one, and up; else one for all work.
  std::vector<PassReport> passes = std::vector<PassReport>(1);
};

/// All levels, the finest first.
struct LevelsReport {
  CycleForm form = CycleForm::v;
  std::int64_t cycles = 0;
  int steps = 0;  // of smoothing on the finest level; the degree of a polynomial
  int coarse_steps = 0;  // on the others
  bool is_double = false;
  Gathering gathering{};
  std::vector<LevelReport> levels{};

  /// Nonzeros of all levels over those of the finest.
  double operator_complexity() const {
    double nonzeros = 0;
    for (const LevelReport& level : levels) nonzeros += static_cast<double>(level.nonzeros);
    const auto finest = static_cast<double>(levels.front().nonzeros);
    return finest > 0 ? nonzeros / finest : 1;
  }
};

/// What has levels: a preconditioner or a method.
class Levels {
 public:
  virtual ~Levels() = default;
  /// What each level has, and took since the last call of `forget_times`. Thread: the main thread,
  /// outside the team.
  virtual LevelsReport report() = 0;
  virtual void forget_times() = 0;
};

}  // namespace weft::solver
