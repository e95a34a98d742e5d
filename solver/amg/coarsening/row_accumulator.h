#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "perfmodel/page_vector.h"
#include "solver/amg/coarsening/coupling.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// Rows of couplings in blocks, whose memory neither moves nor is more than is needed.
class RowBlocks {
 public:
  RowBlocks() = default;
  RowBlocks(RowBlocks&&) = default;
  RowBlocks& operator=(RowBlocks&&) = default;
  RowBlocks(const RowBlocks&) = delete;  // rows would be in the other one
  RowBlocks& operator=(const RowBlocks&) = delete;

  std::span<const PackedCoupling> add(std::span<const Coupling<double>> row) {
    if (blocks_.empty() || blocks_.back().size() + row.size() > blocks_.back().capacity()) {
      const std::size_t next = blocks_.empty() ? first_block : 2 * blocks_.back().capacity();
      blocks_.emplace_back().reserve(std::max(row.size(), std::min(next, largest_block)));
    }
    auto& block = blocks_.back();
    const PackedCoupling* const begin = block.data() + block.size();
    for (const Coupling<double>& coupling : row) block.emplace_back(coupling);
    return {begin, row.size()};
  }
  /// `row`, which `add` has returned, to write to. `block`: 0 before the first row, and from then
  /// on what the call before has left there; rows are asked for in the order in which they came.
  std::span<PackedCoupling> writable(std::span<const PackedCoupling> row, std::size_t& block) {
    if (row.empty()) return {};
    const auto is_in = [&](const perfmodel::PageVector<PackedCoupling>& entries) {
      return std::less_equal()(entries.data(), row.data()) &&
             std::less()(row.data(), entries.data() + entries.size());
    };
    while (!is_in(blocks_[block])) ++block;
    return std::span(blocks_[block])
        .subspan(static_cast<std::size_t>(row.data() - blocks_[block].data()), row.size());
  }
  /// All entries.
  std::span<perfmodel::PageVector<PackedCoupling>> blocks() { return blocks_; }

 private:
  static constexpr std::size_t first_block = 4096;
  static constexpr std::size_t largest_block = 262144;

  std::vector<perfmodel::PageVector<PackedCoupling>> blocks_;
};

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
  /// weight·row. `block`: of so many entries, whose columns always come together and in one order,
  /// as those of an aggregate that has several coarse rows do, `row` is made. One look-up for each,
  /// that of its first column, took 0.7 of the time for 6 of elasticity.
  template <class Entry>
  void add_row(std::span<const Entry> row, double weight, std::size_t block) {
    if (block == 1) {
      for (const Entry& entry : row) add(column_of(entry), weight * value_of(entry));
      return;
    }
    for (; !row.empty(); row = row.subspan(block)) add_block(row.first(block), weight);
  }
  std::span<Coupling<double>> open_row() { return std::span(row_).first(count_); }

  /// Forgets the sums so far.
  void drop_row() {
    for (const auto& coupling : open_row())
      places_[static_cast<std::size_t>(coupling.column)] = none;
    count_ = 0;
  }
  /// Puts the sums so far in ascending order of `order[column]`, by which their columns are
  /// numbered from now on, and forgets them: they are valid until the next `add`.
  std::span<const Coupling<double>> close_row(const std::vector<spmv::LocalIndex>& order) {
    const auto row = open_row();
    for (auto& coupling : row) {
      places_[static_cast<std::size_t>(coupling.column)] = none;
      coupling.column = order[static_cast<std::size_t>(coupling.column)];
    }
    std::ranges::sort(row, {}, &Coupling<double>::column);
    count_ = 0;
    return row;
  }

 private:
  static constexpr spmv::LocalIndex none = -1;

  static double value_of(const Coupling<float>& entry) { return static_cast<double>(entry.value); }
  static double value_of(const PackedCoupling& entry) { return entry.value(); }
  static spmv::LocalIndex column_of(const Coupling<float>& entry) { return entry.column; }
  static spmv::LocalIndex column_of(const PackedCoupling& entry) { return entry.column(); }

  template <class Entry>
  void add_block(std::span<const Entry> block, double weight) {
    spmv::LocalIndex& place = places_[static_cast<std::size_t>(column_of(block.front()))];
    if (place == none) {
      place = static_cast<spmv::LocalIndex>(count_);
      for (const Entry& entry : block)
        row_[count_++] = {weight * value_of(entry), column_of(entry)};
      return;
    }
    Coupling<double>* sum = row_.data() + place;
    for (const Entry& entry : block) (sum++)->value += weight * value_of(entry);
  }

  std::vector<spmv::LocalIndex> places_;  // in `row_`, by column
  std::vector<Coupling<double>> row_;
  std::size_t count_ = 0;
};

}  // namespace weft::solver::amg
