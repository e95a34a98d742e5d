#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "solver/amg/coarsening/page_allocator.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// An entry of a matrix while the hierarchy is set up, by the local number of its column.
template <class Value>
struct Coupling {
  Value value;
  spmv::LocalIndex column;
};

/// Rows of couplings, one after the other.
template <class Value>
struct CouplingRows {
  PageVector<std::int64_t> begin{0};  // [row count + 1]
  PageVector<Coupling<Value>> couplings{};

  std::span<const Coupling<Value>> row(std::size_t row) const {
    return {couplings.data() + begin[row], couplings.data() + begin[row + 1]};
  }
  std::size_t row_count() const { return begin.size() - 1; }
  /// Room for so many rows and couplings: pages that are not used are not touched.
  void reserve(std::size_t rows, std::size_t most_couplings) {
    begin.reserve(rows + 1);
    couplings.reserve(most_couplings);
  }
  void end_row() { begin.push_back(std::ssize(couplings)); }
  /// Adds the rows of `part` behind.
  void append(const CouplingRows& part) {
    const std::int64_t before = std::ssize(couplings);
    couplings.insert(couplings.end(), part.couplings.begin(), part.couplings.end());
    for (std::size_t i = 0; i < part.row_count(); ++i) begin.push_back(before + part.begin[i + 1]);
  }
};

/// The rows of all threads, one after the other.
template <class Value>
CouplingRows<Value> join(std::vector<CouplingRows<Value>> parts) {
  CouplingRows<Value> rows = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) rows.append(parts[i]);
  return rows;
}

}  // namespace weft::solver::amg
