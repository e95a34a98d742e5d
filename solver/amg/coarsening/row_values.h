#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "comm_thread/engine/crew.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/page_vector.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/index.h"
#include "spmv/rows/vector_halo.h"

namespace weft::solver::amg {

/// One value for every row of a rank and every row in the halo of its matrix; used in set-up.
template <class Value>
class RowValues {
 public:
  /// `thread_rows`: [thread_count + 1]. Collective. Thread: the main thread,
  /// outside the team.
  RowValues(const comm_thread::Crew& crew, const spmv::HaloPlan& plan,
            std::span<const spmv::LocalIndex> thread_rows, Value first)
      : crew_(crew),
        values_(static_cast<std::size_t>(thread_rows.back() + plan.halo_count)),
        halo_(crew, plan, thread_rows, values_.data()) {
    crew.team().run([&](const comm_thread::TeamThread& thread) {
      const auto index = static_cast<std::size_t>(thread.index);
      std::fill(values_.data() + thread_rows[index], values_.data() + thread_rows[index + 1],
                first);
    });
    std::fill(values_.data() + thread_rows.back(), values_.data() + values_.size(), first);
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
  comm_thread::Crew crew_;
  perfmodel::PageVector<Value> values_;
  spmv::VectorHalo<Value> halo_;
};

/// The values of own rows, copied by the threads that have them. Thread: the main thread, outside
/// the team.
template <class Value>
perfmodel::PageVector<Value> own_part(const comm_thread::Crew& crew,
                                      std::span<const spmv::LocalIndex> thread_rows,
                                      const RowValues<Value>& values) {
  perfmodel::PageVector<Value> own(static_cast<std::size_t>(thread_rows.back()));
  crew.team().run([&](const comm_thread::TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    const auto rows =
        values.all().subspan(static_cast<std::size_t>(thread_rows[index]),
                             static_cast<std::size_t>(thread_rows[index + 1] - thread_rows[index]));
    std::ranges::copy(rows, own.data() + thread_rows[index]);
  });
  return own;
}

}  // namespace weft::solver::amg
