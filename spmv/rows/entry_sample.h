#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "spmv/rows/index.h"

namespace weft::spmv {

/// What some entries of a matrix in a file say about all of it, if they come row after row or
/// column after column.
class EntrySample {
 public:
  void take(GlobalIndex row, GlobalIndex column) {
    by_row_.take(row);
    by_column_.take(column);
    ++count_;
    has_lower_ = has_lower_ || row > column;
    has_upper_ = has_upper_ || row < column;
    farthest_ = std::max(farthest_, std::abs(row - column));
  }

  /// True if the lengths of rows differ as often as SlicedRows::pays has it, or nobody knows.
  bool has_varying_rows() const {
    constexpr std::int64_t most_equal = 4;
    return !is_in_order() || most_equal * lines().changes >= lines().count;
  }
  /// True if no entry couples a row, or a column, with one before it: of half of a symmetric matrix
  /// the first rows say something only then.
  bool looks_ahead() const { return is_by_rows() ? !has_lower_ : !has_upper_; }
  /// The largest distance between row and column; without an order the largest number.
  GlobalIndex reach() const {
    return is_in_order() ? farthest_ : std::numeric_limits<GlobalIndex>::max();
  }

 private:
  /// Whole rows, or columns, with entries that follow each other.
  struct Lines {
    std::int64_t count = 0;
    std::int64_t changes = 0;  // of the length, from one to the next
    std::int64_t last_length = 0;
    std::int64_t length = 0;  // so far
    GlobalIndex line = -1;

    void take(GlobalIndex number) {
      if (number != line && line >= 0) {
        changes += count++ > 0 && length != last_length;
        last_length = length;
        length = 0;
      }
      line = number;
      ++length;
    }
  };

  bool is_by_rows() const { return by_row_.count < by_column_.count; }
  const Lines& lines() const { return is_by_rows() ? by_row_ : by_column_; }
  bool is_in_order() const { return lines().count > 0 && count_ >= 2 * lines().count; }

  Lines by_row_;
  Lines by_column_;
  std::int64_t count_ = 0;
  GlobalIndex farthest_ = 0;
  bool has_lower_ = false;
  bool has_upper_ = false;
};

}  // namespace weft::spmv
