#include "spmv/matrix/split_matrix.h"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

#include "spmv/matrix/block_crs_kernel.h"
#include "spmv/matrix/crs_kernel.h"
#include "spmv/matrix/row_strips.h"
#include "spmv/rows/thread_rows.h"
#include "spmv/sums/block_dot.h"

namespace weft::spmv {
namespace {

/// Rows after which a product in pieces pauses: 2 µs as a stencil, 30 µs as CRS with 15 entries.
constexpr LocalIndex piece_row_count = 2048;
/// Rows up to which blocks are worked on in one go.
constexpr LocalIndex joined_row_count = 1024;

}  // namespace

SplitMatrix::SplitMatrix(DistributedMatrix matrix, const comm_thread::ComputeTeam& team,
                         MatrixFormat format)
    : matrix_(std::move(matrix)),
      format_(format),
      block_size_(static_cast<LocalIndex>(RowPartition::block_size(matrix_.partition.row_count()))),
      thread_rows_(
          cut_rows_for_threads(matrix_.rows.row_offsets.span(), block_size_, team.thread_count())),
      parts_(static_cast<std::size_t>(team.thread_count())),
      trials_{StorageTrial(team.thread_count()), StorageTrial(team.thread_count()),
              StorageTrial(team.thread_count()), StorageTrial(team.thread_count()),
              StorageTrial(team.thread_count())} {
  team.run([&](const comm_thread::TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    parts_[index] = build_part(thread_rows_[index], thread_rows_[index + 1]);
  });
  look_for_choice();
}

SplitMatrix::ThreadPart SplitMatrix::build_part(LocalIndex begin, LocalIndex end) const {
  ThreadPart part;
  if (format_ == MatrixFormat::automatic && block_size_ % StencilEncoding::chunk_rows == 0)
    part.stencil = StencilEncoding::encode(matrix_, begin, end);
  for (LocalIndex block = begin; block < end; block += block_size_)
    divide_block(part, block, std::min(end, block + block_size_));
  if (part.stencil)
    sort_by_strips(part, begin, end);  // beside a matrix in CRS what x costs hardly counts
  for (std::vector<Run>* runs : {&part.all, &part.interior, &part.boundary}) join_blocks(*runs);
  if (!part.stencil) {
    if (format_ == MatrixFormat::sell) part.sliced.emplace(matrix_.rows, begin, end);
    if (part.sliced && part.sliced->row_count() == 0) part.sliced.reset();
    part.uses_sliced.front() = part.sliced.has_value();
    part.may_be_sliced = format_ == MatrixFormat::automatic &&
                         end - begin >= SlicedRows<double>::window_rows &&
                         SlicedRows<double>::pays(matrix_.rows, begin, end);
    if (format_ == MatrixFormat::automatic && !part.may_be_sliced)
      part.shifted = ShiftedRows::find(matrix_.rows, begin, end);
    number_values(part, begin, end);
  }
  return part;
}

void SplitMatrix::sort_by_strips(ThreadPart& part, LocalIndex begin, LocalIndex end) const {
  const RowStrips strips(matrix_.rows, begin, end);
  // By their blocks, so that the runs of one stay together.
  const auto strip_and_row = [&](const Run& run) {
    return std::pair(strips.strip_of(block_of(run)), run.begin);
  };
  for (std::vector<Run>* runs : {&part.all, &part.interior, &part.boundary})
    std::ranges::sort(*runs, {}, strip_and_row);
}

void SplitMatrix::number_values(ThreadPart& part, LocalIndex begin, LocalIndex end) const {
  part.numbered.reset();
  if (format_ == MatrixFormat::automatic && !part.shifted)
    part.numbered = NumberedValues::find(matrix_.rows, begin, end);
}

void SplitMatrix::look_for_choice() {
  has_choice_ = std::ranges::any_of(parts_, &ThreadPart::may_be_sliced);
}

int SplitMatrix::expect_products(std::optional<std::int64_t> count) {
  for (StorageTrial& of_blocks : std::span(trials_).subspan(1)) of_blocks.expect_products(count);
  const int products = trials_.front().expect_products(count);
  return has_choice_ ? products : 0;
}

void SplitMatrix::take_due_form(int thread, std::size_t of_width) {
  StorageTrial& trial = trials_[of_width];
  const bool was_settled = trial.is_settled(thread);
  take_form(thread, of_width, trial.begin_product(thread));
  if (was_settled || !trial.is_settled(thread)) return;
  // The trial has ended: does any number of vectors still need SELL?
  ThreadPart& part = parts_[static_cast<std::size_t>(thread)];
  const bool is_needed =
      std::ranges::any_of(trials_, [&](const StorageTrial& one) { return one.needs_sell(thread); });
  if (!is_needed) part.sliced.reset();
}

/// Rows are stored by the thread that will multiply them, which touches their pages first.
void SplitMatrix::take_form(int thread, std::size_t of_width, StorageTrial::Form form) {
  const auto index = static_cast<std::size_t>(thread);
  ThreadPart& part = parts_[index];
  const bool wants_sliced = form == StorageTrial::Form::sell && part.may_be_sliced;
  if (wants_sliced && !part.sliced) {
    try {
      part.sliced.emplace(matrix_.rows, thread_rows_[index], thread_rows_[index + 1]);
    } catch (const std::bad_alloc&) {
      part.may_be_sliced = false;  // CRS needs no more memory
    }
  }
  part.uses_sliced[of_width] = wants_sliced && part.sliced;
}

void SplitMatrix::take_sell(const comm_thread::ComputeTeam& team) {
  team.run([&](const comm_thread::TeamThread& thread) {
    if (parts_[static_cast<std::size_t>(thread.index)].may_be_sliced)
      take_form(thread.index, form_of(1), StorageTrial::Form::sell);
  });
  has_choice_ = false;
}

/// Joins runs of whole blocks that follow each other: small matrices have a block for every row.
void SplitMatrix::join_blocks(std::vector<Run>& runs) const {
  const auto is_whole = [&](const Run& run) {
    return run.completes_block && run.begin % block_size_ == 0;
  };
  std::size_t count = 0;
  for (const Run& run : runs) {
    if (count > 0 && is_whole(runs[count - 1]) && is_whole(run) &&
        runs[count - 1].end == run.begin && run.end - runs[count - 1].begin <= joined_row_count)
      runs[count - 1].end = run.end;
    else
      runs[count++] = run;
  }
  runs.resize(count);
}

bool SplitMatrix::is_interior(const ThreadPart& part, LocalIndex begin, LocalIndex end) const {
  if (matrix_.halo_columns.empty()) return true;
  if (part.stencil && begin < part.stencil->encoded_end())
    return part.stencil->reads_only_below(begin, matrix_.rows.row_count);
  const auto first = matrix_.rows.row_offsets[static_cast<std::size_t>(begin)];
  const auto last = matrix_.rows.row_offsets[static_cast<std::size_t>(end)];
  return std::all_of(matrix_.rows.columns.data() + first, matrix_.rows.columns.data() + last,
                     [&](LocalIndex column) { return column < matrix_.rows.row_count; });
}

void SplitMatrix::divide_block(ThreadPart& part, LocalIndex begin, LocalIndex end) const {
  part.all.push_back({begin, end, true});
  const LocalIndex unit = part.stencil ? StencilEncoding::chunk_rows : 1;
  bool last_was_interior = false;
  bool all_interior = true;
  for (LocalIndex row = begin; row < end; row += unit) {
    const LocalIndex unit_end = std::min(end, row + unit);
    const bool interior = is_interior(part, row, unit_end);
    std::vector<Run>& runs = interior ? part.interior : part.boundary;
    if (row > begin && interior == last_was_interior)
      runs.back().end = unit_end;
    else
      runs.push_back({row, unit_end, false});
    last_was_interior = interior;
    all_interior = all_interior && interior;
  }
  (all_interior ? part.interior : part.boundary).back().completes_block = true;
}

void SplitMatrix::multiply_run(const ThreadPart& part, const Run& run, const double* x,
                               double* y) const {
  if (part.uses_sliced.front()) return multiply_sliced(*part.sliced, run, x, y);
  if (part.shifted) return multiply_shifted(*part.shifted, run, x, y);
  LocalIndex row = run.begin;
  if (part.stencil) {
    const LocalIndex end = std::min(run.end, part.stencil->encoded_end());
    if (row < end) part.stencil->multiply(row, end, x, y);
    row = std::max(row, end);
  }
  if (row < run.end) multiply_rows(part, row, run.end, x, y);
}

void SplitMatrix::multiply_rows(const ThreadPart& part, LocalIndex begin, LocalIndex end,
                                const double* x, double* y) const {
  if (part.numbered) return multiply_numbered(matrix_.rows, *part.numbered, begin, end, x, y);
  multiply_crs(matrix_.rows, begin, end, x, y);
}

void SplitMatrix::multiply_sliced(const SlicedRows<double>& sliced, const Run& run, const double* x,
                                  double* y) const {
  for (LocalIndex row = run.begin; row < run.end;) {
    const LocalIndex stored = sliced.next_stored(row, run.end);
    if (row < stored) multiply_crs(matrix_.rows, row, stored, x, y);
    row = sliced.stored_end(stored, run.end);
    if (stored < row) sliced.multiply(stored, row, x, y);
  }
}

void SplitMatrix::multiply_shifted(const ShiftedRows& shifted, const Run& run, const double* x,
                                   double* y) const {
  const LocalIndex begin = std::min(shifted.chunk_begin_from(run.begin), run.end);
  const LocalIndex end = std::max(shifted.chunk_begin_before(run.end), begin);
  if (run.begin < begin) multiply_crs(matrix_.rows, run.begin, begin, x, y);
  if (begin < end) shifted.multiply(matrix_.rows, begin, end, x, y);
  if (end < run.end) multiply_crs(matrix_.rows, end, run.end, x, y);
}

void SplitMatrix::multiply_block(int thread, LocalIndex begin, LocalIndex end, int width,
                                 const double* x, double* y) const {
  const ThreadPart& part = parts_[static_cast<std::size_t>(thread)];
  LocalIndex row = begin;
  if (part.stencil) {
    const LocalIndex encoded_end = std::min(end, part.stencil->encoded_end());
    if (row < encoded_end) part.stencil->multiply_block(row, encoded_end, width, x, y);
    row = std::max(row, encoded_end);
  }
  const auto multiply_others = [&](LocalIndex first, LocalIndex last) {
    double* const results = y + std::int64_t{first - begin} * width;
    if (part.numbered)
      multiply_numbered_block(matrix_.rows, *part.numbered, first, last, width, x, results);
    else
      multiply_crs_block(matrix_.rows, first, last, width, x, results);
  };
  while (part.uses_sliced[form_of(width)] && row < end) {
    const LocalIndex stored = part.sliced->next_stored(row, end);
    if (row < stored) multiply_others(row, stored);
    row = part.sliced->stored_end(stored, end);
    if (stored < row)
      part.sliced->multiply_block(stored, row, width, x, y + std::int64_t{stored - begin} * width);
  }
  if (row < end) multiply_others(row, end);
}

void SplitMatrix::multiply(RowSet set, int thread, const double* x, double* y,
                           comm_thread::ExactAccumulator* x_dot_y) const {
  multiply_blocks(set, thread, x, y, [&](LocalIndex row, LocalIndex count) {
    if (x_dot_y) x_dot_y->add(block_dot(x + row, y + row, count));
  });
}

void SplitMatrix::multiply_in_pieces(RowSet set, const comm_thread::TeamThread& thread,
                                     const double* x, double* y, RowSum x_dot_y,
                                     const std::function<void()>& pause) const {
  LocalIndex rows_since_pause = 0;
  multiply_runs(
      set, thread.index, x, y,
      [&](LocalIndex row, LocalIndex count) {
        if (x_dot_y.part) x_dot_y.part->add(block_dot(x + row, y + row, count));
      },
      [&](LocalIndex row_count) {
        rows_since_pause += row_count;
        if (rows_since_pause < piece_row_count) return;
        rows_since_pause = 0;
        pause();
      });
}

LocalIndex SplitMatrix::multiply_first_run(RowSet set, int thread, const double* x,
                                           double* y) const {
  const ThreadPart& part = parts_[static_cast<std::size_t>(thread)];
  if (part.runs(set).empty()) return 0;
  const Run& run = part.runs(set).front();
  multiply_run(part, run, x, y);
  return run.end - run.begin;
}

void SplitMatrix::update_values(const comm_thread::ComputeTeam& team,
                                const std::function<void(const comm_thread::TeamThread&, LocalIndex,
                                                         LocalIndex, std::span<double>)>& write) {
  const auto count_before = std::ranges::count(parts_, true, &ThreadPart::may_be_sliced);
  team.run([&](const comm_thread::TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    const LocalIndex begin = thread_rows_[index];
    const LocalIndex end = thread_rows_[index + 1];
    write(thread, begin, end, matrix_.rows.values.span());
    ThreadPart& part = parts_[index];
    if (part.stencil) {
      part = build_part(begin, end);
      return;
    }
    if (part.sliced) part.sliced->update_values(matrix_.rows);
    number_values(part, begin, end);
  });
  // Rows that were a stencil may be SELL now.
  if (std::ranges::count(parts_, true, &ThreadPart::may_be_sliced) != count_before) look_again();
}

/// Tries forms of storage again.
void SplitMatrix::look_again() {
  for (StorageTrial& trial : trials_) trial.restart();
  for (ThreadPart& part : parts_)
    if (format_ == MatrixFormat::automatic) part.uses_sliced = {};
  look_for_choice();
}

bool SplitMatrix::replace_rows(const comm_thread::ComputeTeam& team, CrsMatrix rows,
                               std::int64_t global_nonzero_count) {
  matrix_.global_nonzero_count = global_nonzero_count;
  const auto entries = [](const CrsMatrix& of) {
    return of.columns.span().first(static_cast<std::size_t>(of.nonzero_count()));
  };
  const bool has_same_places =
      std::ranges::equal(rows.row_offsets.span(), matrix_.rows.row_offsets.span()) &&
      std::ranges::equal(entries(rows), entries(matrix_.rows));
  if (has_same_places) {
    update_values(team, [&](const comm_thread::TeamThread&, LocalIndex begin, LocalIndex end,
                            std::span<double> values) {
      const auto first = rows.row_offsets[static_cast<std::size_t>(begin)];
      const auto last = rows.row_offsets[static_cast<std::size_t>(end)];
      std::copy(rows.values.data() + first, rows.values.data() + last, values.data() + first);
    });
    return false;
  }
  matrix_.rows = std::move(rows);
  team.run([&](const comm_thread::TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    parts_[index] = build_part(thread_rows_[index], thread_rows_[index + 1]);
  });
  look_again();
  return true;
}

std::int64_t SplitMatrix::boundary_row_count() const {
  std::int64_t count = 0;
  for (const ThreadPart& part : parts_)
    for (const Run& run : part.boundary) count += run.end - run.begin;
  return count;
}

std::vector<double> SplitMatrix::diagonal() const {
  std::vector<double> diagonal(static_cast<std::size_t>(row_count()), 0.0);
  for (std::size_t row = 0; row < diagonal.size(); ++row)
    for (auto k = matrix_.rows.row_offsets[row]; k < matrix_.rows.row_offsets[row + 1]; ++k)
      if (matrix_.rows.columns[static_cast<std::size_t>(k)] == static_cast<LocalIndex>(row))
        diagonal[row] = matrix_.rows.values[static_cast<std::size_t>(k)];
  return diagonal;
}

std::string SplitMatrix::format_name() const {
  const auto& stencil = parts_.front().stencil;
  if (stencil)
    return "stencil, " + std::to_string(stencil->pattern_count()) + " patterns" +
           (stencil->has_diagonal() ? " beside the diagonal" : "");
  if (!is_undecided() && parts_.front().uses_sliced.front()) return "SELL-8";
  if (parts_.front().shifted) return "CRS, shifted rows";
  const auto& numbered = parts_.front().numbered;
  if (!numbered) return "CRS";
  const std::size_t count = numbered->value_count();
  return "CRS, " + std::to_string(count) + (count == 1 ? " value" : " values");
}

std::optional<StorageTimes> SplitMatrix::storage_times(int width) const {
  return has_choice_ ? trials_[form_of(width)].times() : std::nullopt;
}

bool SplitMatrix::may_be_sliced() const {
  return std::ranges::any_of(parts_, [&](const ThreadPart& part) {
    return part.sliced || (has_choice_ && part.may_be_sliced && is_undecided());
  });
}

std::int64_t SplitMatrix::matrix_bytes() const {
  std::int64_t bytes = 0;
  for (std::size_t thread = 0; thread < parts_.size(); ++thread) {
    LocalIndex row = thread_rows_[thread];
    if (const auto& stencil = parts_[thread].stencil) {
      bytes += stencil->bytes();
      row = stencil->encoded_end();
    }
    const auto& offsets = matrix_.rows.row_offsets;
    const auto end = static_cast<std::size_t>(thread_rows_[thread + 1]);
    bytes += 12 * (offsets[end] - offsets[static_cast<std::size_t>(row)]) +
             std::int64_t{8} * (static_cast<LocalIndex>(end) - row);
    const auto& sliced = parts_[thread].sliced;
    const auto& numbered = parts_[thread].numbered;
    if (!is_undecided() && parts_[thread].uses_sliced.front())
      bytes += sliced->bytes() - 12 * sliced->nonzero_count() - 8 * sliced->row_count();
    else if (numbered)
      bytes += numbered->bytes() - 8 * (offsets[end] - offsets[static_cast<std::size_t>(row)]);
    if (const auto& shifted = parts_[thread].shifted) {
      const auto last = static_cast<std::size_t>(shifted->chunk_begin_before(
          static_cast<LocalIndex>(end)));  // rows beyond it are in no chunk
      bytes += shifted->bytes() - 4 * (offsets[last] - offsets[static_cast<std::size_t>(row)]) -
               std::int64_t{8} * (static_cast<LocalIndex>(last) - row);
    }
  }
  return bytes;
}

}  // namespace weft::spmv
