#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/stopwatch.h"
#include "spmv/matrix/matrix_format.h"
#include "spmv/matrix/numbered_values.h"
#include "spmv/matrix/shifted_rows.h"
#include "spmv/matrix/sliced_rows.h"
#include "spmv/matrix/stencil_encoding.h"
#include "spmv/matrix/storage_trial.h"
#include "spmv/modes/local_rows.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// This rank's rows, divided among the compute threads, and within a thread into interior and
/// boundary rows; where they are stored as a stencil, in the order of RowStrips.
///
///     6×6 tridiagonal, rank 0 of 2, one thread      row 0  interior
///                                                   row 1  interior
///                                                   row 2  boundary (column 3 is rank 1's)
///
/// Every row is summed once, in one order, whichever set it is reached through, so the bits are
/// the same in every mode.
///
/// With MatrixFormat::automatic, rows that may be multiplied sooner as SELL are in CRS first; the
/// products of an iteration then find out which of the two is kept (StorageTrial).
class SplitMatrix final : public LocalRows {
 public:
  /// Thread: the main thread, outside the team.
  SplitMatrix(DistributedMatrix matrix, const comm_thread::ComputeTeam& team, MatrixFormat format);

  const DistributedMatrix& matrix() const { return matrix_; }
  LocalIndex row_count() const { return matrix_.rows.row_count; }
  GlobalIndex block_size() const { return block_size_; }

  /// Shape: [thread_count + 1], row numbers; multiples of the block size but for the last.
  std::span<const LocalIndex> thread_rows() const { return thread_rows_; }

  /// Rows of this rank that wait for the halo, as the kernels divide them.
  std::int64_t boundary_row_count() const;

  /// y = A·x on the rows of one thread in `set`; where `x_dot_y` is given, Σ x_i·y_i of every row
  /// block that this completes is added to it.
  /// Shape: x: [row_count + halo_count] of a HaloVector, y: [row_count], 64-byte aligned.
  /// Thread: each of the team for itself.
  void multiply(RowSet set, int thread, const double* x, double* y,
                comm_thread::ExactAccumulator* x_dot_y) const;
  void multiply(RowSet set, const comm_thread::TeamThread& thread, const double* x, double* y,
                RowSum x_dot_y) const override {
    multiply(set, thread.index, x, y, x_dot_y.part);
  }
  void multiply_in_pieces(RowSet set, const comm_thread::TeamThread& thread, const double* x,
                          double* y, RowSum x_dot_y,
                          const std::function<void()>& pause) const override;

  /// Computes y = A·x on the rows of one thread in `set`; calls `on_block(first row, number of
  /// rows)` for every row block as soon as it is complete, while its part of y is in cache.
  /// Shape, thread: as above.
  template <class OnBlock>
  void multiply_blocks(RowSet set, int thread, const double* x, double* y,
                       const OnBlock& on_block) const {
    multiply_runs(set, thread, x, y, on_block, [](LocalIndex /*row_count*/) {});
  }

  /// Calls `multiply`, which computes the rows of one thread in `set` of a product with `width`
  /// vectors, 1, 2, 4, 8 or 16, in the form that is due for so many: changes it before the first
  /// part of a product where a trial says so, and takes the time while forms are compared, with the
  /// tests of messages between pieces.
  /// Thread: each of the team for itself, all for the same products, with a barrier between one
  /// product and the next. Throws what `multiply` throws.
  template <class Multiply>
  void in_due_form(RowSet set, int thread, int width, const Multiply& multiply) {
    if (width > 1 && numbered_values(thread) && numbered_values(thread)->lead_far())
      return multiply();
    StorageTrial& trial = trials_[form_of(width)];
    if (!has_choice_ || trial.is_held()) return multiply();
    if (set != RowSet::boundary) take_due_form(thread, form_of(width));
    if (!trial.is_timed(thread)) return multiply();
    const perfmodel::Stopwatch watch;
    multiply();
    trial.add_seconds(thread, watch.seconds());
  }

  /// The numbers of the values of a thread's rows, which its products read unless they take SELL;
  /// null where there are none.
  const NumberedValues* numbered_values(int thread) const {
    const auto& numbered = parts_[static_cast<std::size_t>(thread)].numbered;
    return numbered ? &*numbered : nullptr;
  }

  /// Tells StorageTrial::expect_products about products with one vector; returns 0 also where there
  /// is nothing to choose.
  int expect_products(std::optional<std::int64_t> count);
  void expect_products_here(const comm_thread::TeamThread& thread, std::int64_t count) {
    trials_.front().expect_products_here(thread.index, count);
  }
  /// Stores rows as SELL where a trial would try that, without one.
  /// Thread: the main thread, outside the team.
  void take_sell(const comm_thread::ComputeTeam& team);

  /// Rows begin … end-1 that are worked on in one go: some of a row block, or several whole ones.
  struct RunOfRows {
    LocalIndex begin;
    LocalIndex end;
    bool completes_block;  // the last of these rows is the last of its block that is worked on
  };
  /// Calls `on_run(RunOfRows)` for the rows of one thread in `set`.
  template <class OnRun>
  void for_each_run(RowSet set, int thread, const OnRun& on_run) const {
    for (const RunOfRows& run : parts_[static_cast<std::size_t>(thread)].runs(set)) on_run(run);
  }

  /// Calls `on_block(first row, number of rows)` for the row blocks that `run` completes.
  template <class OnBlock>
  void for_each_completed_block(const RunOfRows& run, const OnBlock& on_block) const {
    if (!run.completes_block) return;
    for (LocalIndex block = block_of(run); block < run.end; block += block_size_)
      on_block(block, std::min(row_count() - block, block_size_));
  }

  /// Y = A·X for `width` vectors on rows begin … end-1 of a run of `thread`, as in
  /// multiply_crs_block. Shape: y: [(end - begin) · width], of row `begin` first.
  void multiply_block(int thread, LocalIndex begin, LocalIndex end, int width, const double* x,
                      double* y) const;

  /// y = A·x on the first run of rows of one thread in `set`, at most a row block: again and again
  /// it stays in the thread's cache. Returns how many rows that were. Shape, thread: as above.
  LocalIndex multiply_first_run(RowSet set, int thread, const double* x, double* y) const;

  /// Calls `write` in every thread, for the entries of the rows that it owns: the same rows and
  /// columns with other values. What is stored as a stencil is encoded again, or left to CRS where
  /// rows no longer repeat; SELL stays, and so does what a trial has found.
  /// `write`: (thread, first row, last row, values of the whole matrix).
  /// Thread: the main thread, outside the team. Cost: of CRS that of `write` alone.
  void update_values(
      const comm_thread::ComputeTeam& team,
      const std::function<void(const comm_thread::TeamThread& thread, LocalIndex begin,
                               LocalIndex end, std::span<double> values)>& write);

  /// Takes other entries of the same rows, whose columns are local ones and those of the halo that
  /// there is: where their places are the same, as `update_values` does, else all is stored anew,
  /// with the rows dealt to the threads as before. Returns whether places changed on this rank.
  /// Thread: the main thread, outside the team.
  bool replace_rows(const comm_thread::ComputeTeam& team, CrsMatrix rows,
                    std::int64_t global_nonzero_count);

  /// The main diagonal; 0 where a row has none. Shape: [row_count].
  std::vector<double> diagonal() const;

  /// "stencil, 27 patterns", "stencil, 20 patterns beside the diagonal", "SELL-8", "CRS, shifted
  /// rows", "CRS, 1099 values" or "CRS": for the report. The format of thread 0; CRS until a trial
  /// has ended. Thread: the main thread, outside the team, as all below.
  std::string format_name() const;
  /// The times that decided between CRS and SELL for products with `width` vectors; none before, or
  /// where there was no choice.
  std::optional<StorageTimes> storage_times(int width = 1) const;
  /// True while products are to come before CRS and SELL have been compared.
  bool is_undecided() const { return has_choice_ && !trials_.front().times(); }
  /// True if rows are stored as SELL beside CRS, or may be later.
  bool may_be_sliced() const;

  /// Bytes that a product reads of the matrix alone, as `format_name` says.
  std::int64_t matrix_bytes() const;

 private:
  using Run = RunOfRows;
  /// Each number of vectors has its own trial, and a place in arrays.
  static constexpr std::size_t form_count = 5;
  static std::size_t form_of(int width) {
    return static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(width)));
  }
  struct ThreadPart {
    std::vector<Run> all, interior, boundary;
    std::optional<StencilEncoding> stencil;
    // At most one of these, and only without a stencil.
    std::optional<SlicedRows<double>> sliced;
    std::optional<ShiftedRows> shifted;
    std::optional<NumberedValues> numbered;  // only without a stencil and without shifted rows
    bool may_be_sliced = false;  // rows may be multiplied sooner so, which is to be tried
    std::array<bool, form_count> uses_sliced{};  // in the product that is made, or the last one

    const std::vector<Run>& runs(RowSet set) const {
      return set == RowSet::all ? all : set == RowSet::interior ? interior : boundary;
    }
  };

  /// `multiply_blocks` that also calls `on_run(number of rows)` after each run.
  template <class OnBlock, class OnRun>
  void multiply_runs(RowSet set, int thread, const double* x, double* y, const OnBlock& on_block,
                     const OnRun& on_run) const {
    const ThreadPart& part = parts_[static_cast<std::size_t>(thread)];
    for (const Run& run : part.runs(set)) {
      multiply_run(part, run, x, y);
      for_each_completed_block(run, on_block);
      on_run(run.end - run.begin);
    }
  }

  /// The first row of the block that `run` is in.
  LocalIndex block_of(const Run& run) const { return run.begin / block_size_ * block_size_; }

  ThreadPart build_part(LocalIndex begin, LocalIndex end) const;
  void sort_by_strips(ThreadPart& part, LocalIndex begin, LocalIndex end) const;
  void number_values(ThreadPart& part, LocalIndex begin, LocalIndex end) const;
  void look_for_choice();
  void look_again();
  void take_due_form(int thread, std::size_t of_width);
  void take_form(int thread, std::size_t of_width, StorageTrial::Form form);
  void divide_block(ThreadPart& part, LocalIndex begin, LocalIndex end) const;
  void join_blocks(std::vector<Run>& runs) const;
  bool is_interior(const ThreadPart& part, LocalIndex begin, LocalIndex end) const;
  void multiply_run(const ThreadPart& part, const Run& run, const double* x, double* y) const;
  void multiply_rows(const ThreadPart& part, LocalIndex begin, LocalIndex end, const double* x,
                     double* y) const;
  void multiply_sliced(const SlicedRows<double>& sliced, const Run& run, const double* x,
                       double* y) const;
  void multiply_shifted(const ShiftedRows& shifted, const Run& run, const double* x,
                        double* y) const;

  DistributedMatrix matrix_;
  MatrixFormat format_;
  LocalIndex block_size_;
  std::vector<LocalIndex> thread_rows_;
  std::vector<ThreadPart> parts_;  // [thread_count]
  std::array<StorageTrial, form_count> trials_;
  bool has_choice_ = false;  // between CRS and SELL, by the trials
};

}  // namespace weft::spmv
