#pragma once

#include <array>
#include <bit>
#include <cstddef>
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

/// The same in double precision and 12 bytes instead of 16: rows of A·P are most of what a set-up
/// has in memory at once, and fresh memory is dear.
class PackedCoupling {
 public:
  PackedCoupling() = default;
  explicit PackedCoupling(const Coupling<double>& coupling)
      : bits_(std::bit_cast<Bits>(coupling.value)), column_(coupling.column) {}

  double value() const { return std::bit_cast<double>(bits_); }
  void set_value(double value) { bits_ = std::bit_cast<Bits>(value); }
  spmv::LocalIndex column() const { return column_; }

 private:
  using Bits = std::array<std::uint32_t, 2>;

  Bits bits_;
  spmv::LocalIndex column_;
};
static_assert(sizeof(PackedCoupling) == 12);

/// Rows of couplings, one after the other.
template <class Entry>
struct EntryRows {
  PageVector<std::int64_t> begin{0};  // [row count + 1]
  PageVector<Entry> couplings{};

  std::span<const Entry> row(std::size_t row) const {
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
  void append(const EntryRows& part) {
    const std::int64_t before = std::ssize(couplings);
    couplings.insert(couplings.end(), part.couplings.begin(), part.couplings.end());
    for (std::size_t i = 0; i < part.row_count(); ++i) begin.push_back(before + part.begin[i + 1]);
  }
};

template <class Value>
using CouplingRows = EntryRows<Coupling<Value>>;

/// The rows of all threads, one after the other.
template <class Value>
CouplingRows<Value> join(std::vector<CouplingRows<Value>> parts) {
  CouplingRows<Value> rows = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) rows.append(parts[i]);
  return rows;
}

}  // namespace weft::solver::amg
