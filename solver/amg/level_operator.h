#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"
#include "solver/amg/coarsening/crew.h"
#include "solver/amg/coarsening/level_halo.h"
#include "spmv/modes/mode.h"
#include "spmv/modes/run_in_mode.h"
#include "spmv/modes/work.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/index.h"
#include "spmv/rows/row_set.h"

namespace weft::solver::amg {

/// Rows of a level's matrix, prolongator or restriction on this rank, as the cycle multiplies with
/// them: CRS, columns own first and then the halo, in ascending global order within a row.
///
/// Bytes per nonzero: 4 and those of a value; per row 4. Rows are summed in four parts, whose
/// elements are every fourth, in one order in all modes.
template <class Value>
class LevelOperator {
 public:
  /// `count(row)`: entries of a row; `fill(row, values, columns)` writes as many. `own_columns`:
  /// from which number on columns are in the halo. `thread_rows`: [thread_count + 1]. `plan`: of
  /// the vectors it is applied to. Thread: the main thread; the functions are called by all of the
  /// team. Throws comm_thread::InputError where this rank has 2³² entries or more.
  template <class Count, class Fill>
  LevelOperator(Crew& crew, spmv::HaloPlan plan, std::vector<spmv::LocalIndex> thread_rows,
                spmv::LocalIndex own_columns, const Count& count, const Fill& fill)
      : plan_(std::move(plan)),
        thread_rows_(std::move(thread_rows)),
        parts_(thread_rows_.size() - 1),
        offsets_(static_cast<std::size_t>(thread_rows_.back()) + 1) {
    std::int64_t total = 0;
    for (spmv::LocalIndex row = 0; row < row_count(); ++row) {
      total += count(row);
      offsets_[static_cast<std::size_t>(row) + 1] = static_cast<Offset>(total);
    }
    allocate(total);
    crew.team().run([&](const comm_thread::TeamThread& thread) {
      const auto index = static_cast<std::size_t>(thread.index);
      for (spmv::LocalIndex row = thread_rows_[index]; row < thread_rows_[index + 1]; ++row) {
        const Offset begin = offsets_[static_cast<std::size_t>(row)];
        fill(row, values_.data() + begin, columns_.data() + begin);
      }
      split(parts_[index], thread_rows_[index], thread_rows_[index + 1], own_columns);
    });
  }

  spmv::LocalIndex row_count() const { return thread_rows_.back(); }
  std::span<const spmv::LocalIndex> thread_rows() const { return thread_rows_; }
  const spmv::HaloPlan& plan() const { return plan_; }
  std::int64_t nonzero_count() const { return std::int64_t{offsets_[offsets_.size() - 1]}; }
  std::int64_t boundary_row_count() const;
  /// The largest sum of magnitudes of a row.
  double largest_row_sum() const;
  /// In memory.
  std::int64_t bytes() const {
    return nonzero_count() * std::int64_t{sizeof(Value) + sizeof(spmv::LocalIndex)} +
           std::ssize(offsets_.span()) * std::int64_t{sizeof(Offset)};
  }

  /// Calls finish(row, Σ_k a_k·x_k) for all rows of the thread, in `mode`. `x`: a halo of this
  /// plan. Thread: every thread of the team, after it wrote its rows of x. Collective.
  template <class Finish>
  void run(const comm_thread::TeamThread& thread, spmv::Mode mode, LevelHalo<Value>& x,
           comm_thread::CommThread& comm_thread, perfmodel::PhaseTimer& timer,
           const Finish& finish) const {
    const Pass<Finish> pass(*this, x.entries(), finish);
    spmv::run_in_mode(thread, mode, {pass, x, comm_thread, timer});
  }

 private:
  using Offset = std::uint32_t;

  /// Consecutive rows.
  struct Run {
    spmv::LocalIndex begin;
    spmv::LocalIndex end;
  };
  struct Part {
    std::vector<Run> all, interior, boundary;
    const std::vector<Run>& runs(spmv::RowSet set) const {
      return set == spmv::RowSet::all ? all : set == spmv::RowSet::interior ? interior : boundary;
    }
  };

  template <class Finish>
  class Pass final : public spmv::Work {
   public:
    Pass(const LevelOperator& rows, const Value* x, const Finish& finish)
        : rows_(rows), x_(x), finish_(finish) {}
    void run(spmv::RowSet part, const comm_thread::TeamThread& thread,
             const std::function<void()>& pause) const override {
      for (const Run& rows : rows_.parts_[static_cast<std::size_t>(thread.index)].runs(part)) {
        if (!pause) {
          rows_.multiply(rows, x_, finish_);
          continue;
        }
        for (spmv::LocalIndex row = rows.begin; row < rows.end; row += rows_between_pauses) {
          rows_.multiply({row, std::min(rows.end, row + rows_between_pauses)}, x_, finish_);
          pause();
        }
      }
    }

   private:
    static constexpr spmv::LocalIndex rows_between_pauses = 2048;
    const LevelOperator& rows_;
    const Value* x_;
    const Finish& finish_;
  };

  void allocate(std::int64_t total);
  void split(Part& part, spmv::LocalIndex begin, spmv::LocalIndex end,
             spmv::LocalIndex own_columns) const;

  template <class Finish>
  void multiply(Run rows, const Value* x, const Finish& finish) const {
    const Value* const values = values_.data();
    const spmv::LocalIndex* const columns = columns_.data();
    Offset k = offsets_[static_cast<std::size_t>(rows.begin)];
    for (spmv::LocalIndex row = rows.begin; row < rows.end; ++row) {
      const Offset end = offsets_[static_cast<std::size_t>(row) + 1];
      Value a = 0;
      Value b = 0;
      Value c = 0;
      Value d = 0;
      for (; k + 4 <= end; k += 4) {
        a += values[k] * x[columns[k]];
        b += values[k + 1] * x[columns[k + 1]];
        c += values[k + 2] * x[columns[k + 2]];
        d += values[k + 3] * x[columns[k + 3]];
      }
      if (k < end) a += values[k] * x[columns[k]];
      if (k + 1 < end) b += values[k + 1] * x[columns[k + 1]];
      if (k + 2 < end) c += values[k + 2] * x[columns[k + 2]];
      k = end;
      finish(row, (a + b) + (c + d));
    }
  }

  spmv::HaloPlan plan_;
  std::vector<spmv::LocalIndex> thread_rows_;
  std::vector<Part> parts_;  // by thread
  perfmodel::HugePageBuffer<Offset> offsets_;
  perfmodel::HugePageBuffer<spmv::LocalIndex> columns_;
  perfmodel::HugePageBuffer<Value> values_;
};

extern template class LevelOperator<float>;
extern template class LevelOperator<double>;

}  // namespace weft::solver::amg
