#pragma once

#include <cstdint>
#include <span>

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
  void end_row() { begin.push_back(std::ssize(couplings)); }
};

}  // namespace weft::solver::amg
