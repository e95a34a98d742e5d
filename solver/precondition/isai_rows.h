#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// Own rows of a factor of IsaiPreconditioner while it is set up, one after the other.
struct IsaiRows {
  struct Entry {
    spmv::GlobalIndex column;
    double value;
  };

  /// `counts`: entries of each row. Nothing is written to the entries yet.
  explicit IsaiRows(std::span<const std::int32_t> counts) : begin(counts.size() + 1) {
    std::inclusive_scan(counts.begin(), counts.end(), begin.span().begin() + 1, std::plus<>(),
                        std::int64_t{0});
    entries = perfmodel::HugePageBuffer<Entry>(static_cast<std::size_t>(begin.span().back()));
  }

  std::span<const Entry> row(std::size_t row) const {
    return {entries.data() + begin[row], static_cast<std::size_t>(begin[row + 1] - begin[row])};
  }
  std::span<Entry> row(std::size_t row) {
    return {entries.data() + begin[row], static_cast<std::size_t>(begin[row + 1] - begin[row])};
  }

  perfmodel::HugePageBuffer<std::int64_t> begin;  // [row count + 1]
  perfmodel::HugePageBuffer<Entry> entries;
};

}  // namespace weft::solver
