#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/page_vector.h"
#include "perfmodel/phase_times.h"
#include "spmv/modes/chained_work.h"
#include "spmv/modes/mode.h"
#include "spmv/modes/run_in_mode.h"
#include "spmv/modes/work.h"
#include "spmv/problems/random_numbers.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/index.h"
#include "spmv/rows/row_set.h"
#include "spmv/rows/vector_halo.h"

namespace weft::solver::amg {

/// Rows of a level's matrix, prolongator or restriction on this rank, stored for eight to be
/// multiplied at once: SELL-C-σ with C = 8 and σ = 256, the interior and the boundary rows of each
/// thread by themselves.
///
///     6×6 example, chunk of 3 rows          slots, one lane a row
///     row 3:  a b c                         a d g
///     row 4:  d e                           b e h
///     row 5:  g h                           c 0 0
///
/// Columns are own ones first and then the halo, in ascending global order within a row. A row is
/// summed in this order, every other element in one of two sums; a row of more than
/// `longest_in_lane` entries in eight parts, one a lane, whose elements are every eighth. So its
/// bits depend on the row alone. Zeros that fill up a lane have a column of the row: infinities do
/// not spread.
///
/// Columns are 16-bit distances from the least one of their chunk where they fit.
///
/// Bytes per slot: 2, or 4 where distances are long, and those of a value; per row 7.
template <class Value>
class LevelOperator {
 public:
  /// `count(row)`: entries of a row; `needs_halo(row)`: true if one of them is in the halo;
  /// `fill(row, add)` calls add(value, column) as often. `thread_rows`: [thread_count + 1]. `plan`:
  /// of the vectors it is applied to. Thread: the main thread; the functions are called by all of
  /// the team.
  template <class Count, class NeedsHalo, class Fill>
  LevelOperator(const comm_thread::Crew& crew, spmv::HaloPlan plan,
                std::vector<spmv::LocalIndex> thread_rows, const Count& count,
                const NeedsHalo& needs_halo, const Fill& fill)
      : plan_(std::move(plan)),
        thread_rows_(std::move(thread_rows)),
        parts_(thread_rows_.size() - 1) {
    crew.team().run([&](const comm_thread::TeamThread& thread) {
      const auto index = static_cast<std::size_t>(thread.index);
      Chunks interior;
      Chunks boundary;
      for (spmv::LocalIndex row = thread_rows_[index]; row < thread_rows_[index + 1]; ++row)
        (needs_halo(row) ? boundary : interior).add(row, static_cast<std::int64_t>(count(row)));
      parts_[index] = join(interior, boundary);
      parts_[index].pattern = pattern_of(thread.index, count);
    });
    allocate();
    crew.team().run([&](const comm_thread::TeamThread& thread) {
      std::vector<Value> values;
      std::vector<spmv::LocalIndex> columns;
      std::vector<spmv::LocalIndex> of_chunk;
      Part& part = parts_[static_cast<std::size_t>(thread.index)];
      for (std::size_t chunk = 0; chunk < part.chunk_count(); ++chunk) {
        of_chunk.resize(part.begin[chunk + 1] - part.begin[chunk]);
        for (std::size_t lane = 0; lane < lane_count; ++lane) {
          const spmv::LocalIndex row = part.rows[chunk * lane_count + lane];
          if (row == no_row) continue;
          values.resize(static_cast<std::size_t>(count(row)));
          columns.resize(values.size());
          std::size_t next = 0;
          fill(row, [&](Value value, spmv::LocalIndex column) {
            values[next] = value;
            columns[next++] = column;
          });
          store(part, chunk, lane, values, columns, of_chunk);
        }
        store_columns(part, chunk, of_chunk);
      }
      part.words.trim(part.word_count);
    });
  }

  /// Gives the entries other values; the same columns. False, and nothing is done, where a row of
  /// this rank has another number of entries now. Thread: as the constructor.
  template <class Count, class Fill>
  bool take_new_values(const comm_thread::Crew& crew, const Count& count, const Fill& fill) {
    std::vector<char> is_same(parts_.size());
    crew.team().run([&](const comm_thread::TeamThread& thread) {
      const auto index = static_cast<std::size_t>(thread.index);
      is_same[index] = parts_[index].pattern == pattern_of(thread.index, count);
    });
    if (!std::ranges::all_of(is_same, std::identity{})) return false;
    crew.team().run([&](const comm_thread::TeamThread& thread) {
      const Part& part = parts_[static_cast<std::size_t>(thread.index)];
      for (std::size_t place = 0; place < part.rows.size(); ++place) {
        const spmv::LocalIndex row = part.rows[place];
        if (row == no_row) continue;
        const bool is_one_row = static_cast<std::int64_t>(count(row)) > longest_in_lane;
        const std::size_t step = is_one_row ? 1 : lane_count;
        std::size_t next = part.begin[place / lane_count] + (is_one_row ? 0 : place % lane_count);
        fill(row, [&](Value value, spmv::LocalIndex) {
          values_[next] = value;
          next += step;
        });
      }
    });
    return true;
  }

  spmv::LocalIndex row_count() const { return thread_rows_.back(); }
  std::span<const spmv::LocalIndex> thread_rows() const { return thread_rows_; }
  const spmv::HaloPlan& plan() const { return plan_; }
  std::int64_t nonzero_count() const;
  std::int64_t boundary_row_count() const;
  /// The largest sum of magnitudes of a row. Thread: the main thread, outside the team.
  double largest_row_sum(const comm_thread::Crew& crew) const;
  /// That a product reads besides x.
  std::int64_t bytes() const;

  /// Calls finish(row, Σ_k a_k·x_k) for all rows of the thread, in `mode`. `x`: a halo of this
  /// plan. Thread: every thread of the team, after it wrote its rows of x. Collective.
  template <class Finish>
  void run(const comm_thread::TeamThread& thread, spmv::Mode mode, spmv::VectorHalo<Value>& x,
           comm_thread::CommThread& comm_thread, perfmodel::PhaseTimer& timer,
           const Finish& finish) const {
    const Pass<Finish> pass(*this, x.entries(), finish);
    spmv::run_in_mode(thread, mode, {pass, x, comm_thread, timer});
  }

  /// Lets `run_before` leave up to half of the interior rows of a thread for last, from the longest
  /// run of adjacent ones that has none of `sent_rows`: the rows of the result that other ranks
  /// need, in any order. Thread: the main thread, outside the team.
  void hold_back(const comm_thread::Crew& crew, std::span<const spmv::LocalIndex> sent_rows);

  /// `run` of this operator and then of `next`, which is applied to the result, in task mode: rows
  /// that other ranks need come before those that are held back. `starter`, `next_starter`: of the
  /// halos. `result`: what it sends was among `sent_rows` of hold_back. Thread: as `run`.
  /// Collective; other ranks may call `run` twice.
  template <class Finish, class NextFinish>
  void run_before(const comm_thread::TeamThread& thread, spmv::Starter starter,
                  spmv::VectorHalo<Value>& x, const Finish& finish, const LevelOperator& next,
                  spmv::Starter next_starter, spmv::VectorHalo<Value>& result,
                  const NextFinish& next_finish, comm_thread::CommThread& comm_thread,
                  perfmodel::PhaseTimer& timer) const {
    const Pass<Finish> early(*this, x.entries(), finish, Rows::early);
    const Pass<Finish> late(*this, x.entries(), finish, Rows::held_back);
    const Pass<NextFinish> second(next, result.entries(), next_finish);
    spmv::run_chained(thread, {.first = {early, x, comm_thread, timer},
                               .first_starter = starter,
                               .rest = late,
                               .second = {second, result, comm_thread, timer},
                               .second_starter = next_starter});
  }

 private:
  static constexpr std::size_t lane_count = 8;
  static constexpr spmv::LocalIndex no_row = -1;
  static constexpr std::int64_t longest_in_lane = 256;

  /// Which rows are in which lanes. A row that has a chunk to itself is the sum of all lanes.
  class Chunks {
   public:
    /// In ascending order.
    void add(spmv::LocalIndex row, std::int64_t length);
    /// After the last row.
    void end();

    std::vector<spmv::LocalIndex> rows;  // [chunk count · lane_count]
    std::vector<std::size_t> slots;  // [chunk count]
    std::int64_t row_count = 0;
    std::int64_t nonzero_count = 0;

   private:
    void add_chunk(std::size_t slot_count);

    static constexpr std::size_t window_rows = 256;
    std::vector<std::pair<std::int64_t, spmv::LocalIndex>> window_;  // lengths and rows
  };
  /// Where the columns of a chunk are.
  struct Columns {
    std::size_t begin = 0;  // in the words of the part
    spmv::LocalIndex least = no_row;  // of which they are the distances; no_row: two words each
  };
  /// The chunks of a thread.
  struct Part {
    std::vector<spmv::LocalIndex> rows;  // [chunk count · lane_count], interior ones first
    std::vector<std::size_t> begin;  // of each chunk in `values_`; [chunk count + 1]
    std::vector<Columns> columns{};  // [chunk count]
    perfmodel::PageArray<std::uint16_t> words{};  // of the columns; two a slot while it is filled
    std::size_t word_count = 0;  // of them, so far
    std::size_t interior_count = 0;  // chunks
    std::size_t held_begin = 0;  // of these, chunks that are held back
    std::size_t held_end = 0;
    std::int64_t boundary_row_count = 0;
    std::int64_t nonzero_count = 0;
    std::uint64_t pattern = 0;  // sum of the scrambled numbers of entries of the rows

    std::size_t chunk_count() const { return begin.size() - 1; }
  };
  static Part join(Chunks& interior, Chunks& boundary);

  /// Of the interior part.
  enum class Rows { all, early, held_back };

  template <class Finish>
  class Pass final : public spmv::Work {
   public:
    Pass(const LevelOperator& rows, const Value* x, const Finish& finish, Rows interior = Rows::all)
        : rows_(rows), x_(x), finish_(finish), interior_(interior) {}
    void run(spmv::RowSet set, const comm_thread::TeamThread& thread,
             const std::function<void()>& pause) const override {
      const Part& part = rows_.parts_[static_cast<std::size_t>(thread.index)];
      if (set == spmv::RowSet::interior && interior_ == Rows::early) {
        rows_.multiply(part, 0, part.held_begin, x_, finish_);
        return rows_.multiply(part, part.held_end, part.interior_count, x_, finish_);
      }
      if (interior_ == Rows::held_back)
        return rows_.multiply(part, part.held_begin, part.held_end, x_, finish_);
      const std::size_t begin = set == spmv::RowSet::boundary ? part.interior_count : 0;
      const std::size_t end =
          set == spmv::RowSet::interior ? part.interior_count : part.chunk_count();
      if (!pause) return rows_.multiply(part, begin, end, x_, finish_);
      for (std::size_t chunk = begin; chunk < end; chunk += chunks_between_pauses) {
        rows_.multiply(part, chunk, std::min(end, chunk + chunks_between_pauses), x_, finish_);
        pause();
      }
    }

   private:
    static constexpr std::size_t chunks_between_pauses = 256;
    const LevelOperator& rows_;
    const Value* x_;
    const Finish& finish_;
    Rows interior_;
  };

  /// Of the rows of a thread.
  template <class Count>
  std::uint64_t pattern_of(int thread, const Count& count) const {
    const auto index = static_cast<std::size_t>(thread);
    std::uint64_t pattern = 0;
    for (spmv::LocalIndex row = thread_rows_[index]; row < thread_rows_[index + 1]; ++row)
      pattern += spmv::scramble((static_cast<std::uint64_t>(row) << 32) +
                                static_cast<std::uint64_t>(count(row)));
    return pattern;
  }
  void allocate();
  /// Stores the values of the row in a lane, and zeros in free lanes behind it; columns in
  /// `of_chunk`, which has one for each slot of the chunk.
  void store(const Part& part, std::size_t chunk, std::size_t lane, std::span<const Value> values,
             std::span<const spmv::LocalIndex> columns, std::span<spmv::LocalIndex> of_chunk);
  /// After the last lane, chunk by chunk.
  void store_columns(Part& part, std::size_t chunk, std::span<const spmv::LocalIndex> of_chunk);
  /// Sums of each lane of chunks first … last-1.
  void sum_lanes(const Part& part, std::size_t first, std::size_t last, const Value* x,
                 Value* sums) const;

  template <class Finish>
  void multiply(const Part& part, std::size_t first, std::size_t last, const Value* x,
                const Finish& finish) const {
    constexpr std::size_t chunks_at_once = 16;
    std::array<Value, chunks_at_once * lane_count> sums;
    for (std::size_t begin = first; begin < last; begin += chunks_at_once) {
      const std::size_t end = std::min(last, begin + chunks_at_once);
      sum_lanes(part, begin, end, x, sums.data());
      const Value* sum = sums.data();
      for (std::size_t chunk = begin; chunk < end; ++chunk, sum += lane_count) {
        const spmv::LocalIndex* const rows = part.rows.data() + chunk * lane_count;
        if (rows[1] == no_row) {
          finish(rows[0],
                 ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])));
          continue;
        }
        bool is_sequence = true;
        for (std::size_t lane = 0; lane < lane_count; ++lane)
          is_sequence &= rows[lane] == rows[0] + static_cast<spmv::LocalIndex>(lane);
        if (is_sequence) {
#pragma omp simd
          for (std::size_t lane = 0; lane < lane_count; ++lane)
            finish(rows[0] + static_cast<spmv::LocalIndex>(lane), sum[lane]);
        } else {
          for (std::size_t lane = 0; lane < lane_count && rows[lane] != no_row; ++lane)
            finish(rows[lane], sum[lane]);
        }
      }
    }
  }

  spmv::HaloPlan plan_;
  std::vector<spmv::LocalIndex> thread_rows_;
  std::vector<Part> parts_;  // by thread
  perfmodel::PageVector<Value> values_;
};

/// Gives `rows` new values where it has the pattern of the functions, else makes it anew and
/// returns false; as the constructor.
template <class Value, class Count, class NeedsHalo, class Fill>
bool fill_operator(const comm_thread::Crew& crew, spmv::HaloPlan plan,
                   const std::vector<spmv::LocalIndex>& thread_rows, const Count& count,
                   const NeedsHalo& needs_halo, const Fill& fill,
                   std::optional<LevelOperator<Value>>& rows) {
  if (rows && rows->take_new_values(crew, count, fill)) return true;
  rows.emplace(crew, std::move(plan), thread_rows, count, needs_halo, fill);
  return false;
}

extern template class LevelOperator<float>;
extern template class LevelOperator<double>;

}  // namespace weft::solver::amg
