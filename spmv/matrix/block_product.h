#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "comm_thread/placement/compute_team.h"
#include "spmv/matrix/split_matrix.h"
#include "spmv/modes/work.h"
#include "spmv/rows/index.h"
#include "spmv/rows/row_set.h"

namespace weft::spmv {

/// Some rows of Y = A·X for several vectors. Shape: y: [(end - begin) · width], row by row.
struct BlockRows {
  LocalIndex begin = 0;
  LocalIndex end = 0;
  const double* y = nullptr;  // until the call returns
  /// The run that ends with these rows, for SplitMatrix::for_each_completed_block; else null.
  const SplitMatrix::RunOfRows* ended = nullptr;
};

/// Where the results of a thread go.
struct BlockResults {
  /// Shape: [row_count · width]; or, where `is_room`, [BlockProduct::piece_rows · width] of this
  /// thread, for one piece after another.
  double* values = nullptr;
  bool is_room = false;
};
using OnBlockRows = std::function<void(const comm_thread::TeamThread& thread, const BlockRows&)>;

/// The product of a matrix and several vectors as work for the modes; hands on a row's results as
/// soon as they are there, while they are in cache.
class BlockProduct final : public Work {
 public:
  /// Rows whose results are handed on together, at most: 16 kB for 8 vectors.
  static constexpr LocalIndex piece_rows = 256;
  /// The same for so many vectors: no more than 16 kB, which stay in the first cache.
  static LocalIndex rows_of_piece(int width) {
    return width > 8 ? piece_rows * 8 / width : piece_rows;
  }

  /// Shape: x: of a HaloVector of that width. `on_rows`: may be empty.
  BlockProduct(SplitMatrix& matrix, int width, const double* x, BlockResults results,
               const OnBlockRows& on_rows)
      : matrix_(matrix), width_(width), x_(x), results_(results), on_rows_(on_rows) {}

  /// In the form of storage that is due.
  void run(RowSet part, const comm_thread::TeamThread& thread,
           const std::function<void()>& pause) const override {
    matrix_.in_due_form(part, thread.index, width_, [&] { multiply(part, thread, pause); });
  }

 private:
  void multiply(RowSet part, const comm_thread::TeamThread& thread,
                const std::function<void()>& pause) const {
    matrix_.for_each_run(part, thread.index, [&](const SplitMatrix::RunOfRows& run) {
      const LocalIndex most = rows_of_piece(width_);
      for (LocalIndex begin = run.begin; begin < run.end; begin += most) {
        const LocalIndex end = std::min(run.end, begin + most);
        double* const y =
            results_.is_room ? results_.values : results_.values + std::ptrdiff_t{begin} * width_;
        matrix_.multiply_block(thread.index, begin, end, width_, x_, y);
        if (on_rows_) on_rows_(thread, {begin, end, y, end == run.end ? &run : nullptr});
      }
      if (pause) pause();
    });
  }

  SplitMatrix& matrix_;
  int width_;
  const double* x_;
  BlockResults results_;
  const OnBlockRows& on_rows_;
};

}  // namespace weft::spmv
