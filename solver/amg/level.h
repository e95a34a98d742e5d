#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "perfmodel/page_vector.h"
#include "perfmodel/phase_times.h"
#include "solver/amg/level_operator.h"
#include "solver/amg/polynomial.h"
#include "solver/amg/settings.h"
#include "solver/levels/level_report.h"
#include "spmv/rows/index.h"
#include "spmv/rows/vector_halo.h"

namespace weft::solver::amg {

/// A vector of a level: own entries, and room for the halo of every operator that reads it.
template <class Value>
class LevelVector {
 public:
  LevelVector() = default;
  /// Filled by the threads that own the rows. `halo_count`: of the largest halo.
  LevelVector(const comm_thread::Crew& crew, const std::vector<spmv::LocalIndex>& thread_rows,
              std::int64_t halo_count)
      : entries_(static_cast<std::size_t>(thread_rows.back() + halo_count)) {
    crew.team().run([&](const comm_thread::TeamThread& thread) {
      const auto index = static_cast<std::size_t>(thread.index);
      std::fill(data() + thread_rows[index], data() + thread_rows[index + 1], Value{0});
    });
    std::fill(data() + thread_rows.back(), data() + entries_.size(), Value{0});
  }

  Value* data() { return entries_.data(); }
  std::int64_t bytes() const { return std::ssize(entries_) * std::int64_t{sizeof(Value)}; }

 private:
  perfmodel::PageVector<Value> entries_;
};

/// A level as the cycle uses it, scaled by D^(-1/2) from both sides: its matrix has ones on the
/// diagonal, which are not stored. The level that is solved directly has no operators.
/// It cannot be moved.
template <class Value>
struct Level {
  std::vector<spmv::LocalIndex> thread_rows;  // [thread_count + 1]
  std::optional<LevelOperator<Value>> off_diagonal{};
  Polynomial smoother{1, 1};
  /// Of a level of chains, in the place of the polynomial: the inverse in the links.
  std::optional<LevelOperator<Value>> link_inverse{};
  std::optional<LevelOperator<Value>> prolongation{};  // from the next level
  std::optional<LevelOperator<Value>> restriction{};  // to the next level

  LevelVector<Value> b{};  // right-hand side
  LevelVector<Value> x{};  // solution
  LevelVector<Value> r{};  // residual
  LevelVector<Value> rest{};  // residual between steps of a degree above 2
  std::array<LevelVector<Value>, 2> z{};  // of a degree above 2
  std::optional<spmv::VectorHalo<Value>> b_to_smooth{}, x_to_multiply{}, r_to_smooth{},
      r_to_restrict{};
  std::optional<spmv::VectorHalo<Value>> x_to_prolongate{};  // to the finer level
  std::array<std::optional<spmv::VectorHalo<Value>>, 2> z_to_smooth{};

  perfmodel::PhaseTimer timer{};
  LevelReport report{};
};

/// What smoothing multiplies the residual with first; not of a level that is solved directly.
template <class Value>
const LevelOperator<Value>& smoothing_operator(const Level<Value>& level) {
  return level.link_inverse ? *level.link_inverse : *level.off_diagonal;
}

/// How often level `number`, visited once, is corrected by the next, if there is one.
template <class Value>
int correction_count(Settings::Form form, const std::vector<std::unique_ptr<Level<Value>>>& levels,
                     std::size_t number) {
  const bool is_twice = form == Settings::Form::w && number > 0 && number + 1 < levels.size() &&
                        levels[number + 1]->restriction;
  return is_twice ? 2 : 1;
}

}  // namespace weft::solver::amg
