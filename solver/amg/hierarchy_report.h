#pragma once

#include <cstdint>
#include <vector>

#include "solver/amg/coarsening/gathering.h"
#include "solver/amg/settings.h"
#include "spmv/rows/halo.h"

namespace weft::solver::amg {

/// An exchange of a level, and how often a cycle makes it.
struct ExchangeReport {
  spmv::Halo* halo;
  int count;
};

/// One level of a hierarchy. Counts are of all ranks, times, bytes and messages of this one.
struct LevelReport {
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;  // of its matrix
  std::int64_t ranks = 0;  // that have rows of it
  std::int64_t visits = 1;  // in a cycle
  bool is_direct = false;
  double largest_eigenvalue = 0;  // the bound that smoothing uses; 0 where there is none
  std::int64_t own_rows = 0;
  std::int64_t boundary_rows = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t sent_bytes = 0;  // of a cycle
  std::int64_t sent_messages = 0;
  std::vector<ExchangeReport> exchanges{};  // the same number on every rank
  double setup_seconds = 0;
  double seconds = 0;  // of all cycles, the primary thread's
  double halo_wait_seconds = 0;  // of these
};

/// All levels, the finest first.
struct HierarchyReport {
  Settings::Form form = Settings::Form::v;
  std::int64_t cycles = 0;
  int degree = 0;
  bool is_single_precision = false;
  Gathering gathering{0};
  double operator_complexity = 0;  // nonzeros of all levels' matrices over those of the finest
  std::vector<LevelReport> levels;
};

}  // namespace weft::solver::amg
