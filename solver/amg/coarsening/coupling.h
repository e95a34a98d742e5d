#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "perfmodel/page_vector.h"
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
  void set_column(spmv::LocalIndex column) { column_ = column; }

 private:
  using Bits = std::array<std::uint32_t, 2>;

  Bits bits_;
  spmv::LocalIndex column_;
};
static_assert(sizeof(PackedCoupling) == 12);

/// Rows of couplings, one after the other.
template <class Entry>
struct EntryRows {
  perfmodel::PageVector<std::int64_t> begin{0};  // [row count + 1]
  perfmodel::PageVector<Entry> couplings{};

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
};

template <class Value>
using CouplingRows = EntryRows<Coupling<Value>>;

/// The rows of all threads, one after the other, with room for `more_rows`. `parts`:
/// [thread_count]. Each thread copies its own part: touching the new pages is most of the work.
template <class Value>
CouplingRows<Value> join(const comm_thread::ComputeTeam& team,
                         std::vector<CouplingRows<Value>> parts, std::size_t more_rows) {
  if (parts.size() == 1) return std::move(parts.front());
  std::vector<std::size_t> rows_before{0};
  std::vector<std::size_t> couplings_before{0};
  for (const CouplingRows<Value>& part : parts) {
    rows_before.push_back(rows_before.back() + part.row_count());
    couplings_before.push_back(couplings_before.back() + part.couplings.size());
  }
  const std::size_t rows = rows_before.back();
  const std::size_t couplings = couplings_before.back();
  CouplingRows<Value> all;
  all.reserve(rows + more_rows, couplings + (rows > 0 ? 2 * couplings / rows + 1 : 0) * more_rows);
  all.begin.resize(rows + 1);
  all.couplings.resize(couplings);
  team.run([&](const comm_thread::TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    const CouplingRows<Value>& part = parts[index];
    std::ranges::copy(part.couplings, all.couplings.data() + couplings_before[index]);
    for (std::size_t i = 1; i <= part.row_count(); ++i)
      all.begin[rows_before[index] + i] =
          static_cast<std::int64_t>(couplings_before[index]) + part.begin[i];
  });
  return all;
}

}  // namespace weft::solver::amg
