#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "comm_thread/placement/compute_team.h"
#include "solver/amg/coarsening/crew.h"
#include "solver/amg/coarsening/level_halo.h"
#include "solver/amg/coarsening/page_allocator.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// One value for every row of a rank and every row in the halo of its matrix; used in set-up.
template <class Value>
class RowValues {
 public:
  /// `thread_rows`: [thread_count + 1]. Collective.
  RowValues(Crew& crew, const spmv::HaloPlan& plan, std::span<const spmv::LocalIndex> thread_rows,
            Value first)
      : crew_(crew),
        values_(static_cast<std::size_t>(thread_rows.back() + plan.halo_count), first),
        halo_(crew, plan, thread_rows, values_.data()) {
    crew.communicator().barrier();  // both ends of every pair exist
  }

  Value& operator[](std::size_t row) { return values_[row]; }
  const Value& operator[](std::size_t row) const { return values_[row]; }
  std::span<const Value> all() const { return values_; }

  /// Brings the values of other ranks' rows. Thread: every thread of the team, after it wrote its
  /// rows; begins and ends with a barrier. Collective.
  void collective_renew(const comm_thread::TeamThread& thread) {
    halo_.collective_renew(thread, crew_);
  }

 private:
  Crew& crew_;
  PageVector<Value> values_;
  LevelHalo<Value> halo_;
};

}  // namespace weft::solver::amg
