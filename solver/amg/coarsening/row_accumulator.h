#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "solver/amg/coarsening/coupling.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// Adds couplings of one row after the other; a row has its columns in the order in which they
/// came.
class RowAccumulator {
 public:
  explicit RowAccumulator(spmv::LocalIndex column_count)
      : places_(static_cast<std::size_t>(column_count), none),
        row_(static_cast<std::size_t>(column_count)) {}

  void add(spmv::LocalIndex column, double value) {
    spmv::LocalIndex& place = places_[static_cast<std::size_t>(column)];
    if (place == none) {
      place = static_cast<spmv::LocalIndex>(count_);
      row_[count_++] = {value, column};
    } else {
      row_[static_cast<std::size_t>(place)].value += value;
    }
  }
  std::span<Coupling<double>> open_row() { return std::span(row_).first(count_); }

  /// Makes the sums so far, in the order of `open_row`, the next of `rows`.
  void end_row() {
    rows.couplings.insert(rows.couplings.end(), row_.data(), row_.data() + count_);
    rows.end_row();
    drop_row();
  }
  /// Forgets the sums so far.
  void drop_row() {
    for (const auto& coupling : open_row())
      places_[static_cast<std::size_t>(coupling.column)] = none;
    count_ = 0;
  }
  /// The same, in ascending order of `order[column]`, by which the columns are numbered from now
  /// on.
  void end_row_in_order(const std::vector<spmv::LocalIndex>& order) {
    for (auto& coupling : open_row()) {
      places_[static_cast<std::size_t>(coupling.column)] = none;
      coupling.column = order[static_cast<std::size_t>(coupling.column)];
    }
    std::ranges::sort(open_row(), {}, &Coupling<double>::column);
    rows.couplings.insert(rows.couplings.end(), row_.data(), row_.data() + count_);
    rows.end_row();
    count_ = 0;
  }

  CouplingRows<double> rows;

 private:
  static constexpr spmv::LocalIndex none = -1;

  std::vector<spmv::LocalIndex> places_;  // in `row_`, by column
  std::vector<Coupling<double>> row_;
  std::size_t count_ = 0;
};

}  // namespace weft::solver::amg
