#pragma once

#include <cstddef>

#include "perfmodel/page_vector.h"
#include "solver/amg/coarsening/coupling.h"
#include "solver/amg/coarsening/foreign_rows.h"
#include "solver/amg/coarsening/level_matrix.h"

namespace weft::solver::amg {

/// How many rows ahead of their use the rows of a factor are fetched: they lie in no order that the
/// processor could foresee. Without, the products of fem220k took twice as long.
constexpr std::size_t rows_ahead = 12;

/// Calls add(row of P, a_ik) for each entry of row i of A.
template <class Add>
void add_product_row(const LevelMatrix& level, const CouplingRows<float>& prolongator,
                     std::size_t row, const Add& add) {
  const spmv::CrsMatrix& a = level.matrix.rows;
  for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
       k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k)
    add(prolongator.row(static_cast<std::size_t>(a.columns[k])), a.values[k]);
}

/// Rows first … last-1 of A·P: calls add(row of P, a_ik) for each entry of row i, then end(i).
template <class Entry, class Add, class End>
[[gnu::always_inline]] inline void visit_product_rows(const LevelMatrix& level,
                                                      const EntryRows<Entry>& prolongator,
                                                      std::size_t first, std::size_t last,
                                                      const Add& add, const End& end) {
  const spmv::CrsMatrix& a = level.matrix.rows;
  const auto row_of = [&](std::size_t k) { return static_cast<std::size_t>(a.columns[k]); };
  const auto last_entry = static_cast<std::size_t>(a.row_offsets[last]);
  for (std::size_t row = first; row < last; ++row) {
    for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
         k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k) {
      if (k + 2 * rows_ahead < last_entry) {
        __builtin_prefetch(&prolongator.begin[row_of(k + 2 * rows_ahead)]);
        __builtin_prefetch(prolongator.couplings.data() +
                           prolongator.begin[row_of(k + rows_ahead)]);
      }
      add(prolongator.row(row_of(k)), a.values[k]);
    }
    end(row);
  }
}

/// Rows first … last-1 of R·(A·P): calls add(row of A·P, r_ik) for each entry of row i, then
/// end(i). `product`: the rows of A·P, own ones and those of other ranks.
template <class Add, class End>
[[gnu::always_inline]] inline void visit_coarse_rows(const CouplingRows<float>& restriction,
                                                     const perfmodel::PageVector<FineRow>& product,
                                                     std::size_t first, std::size_t last,
                                                     const Add& add, const End& end) {
  const auto& entries = restriction.couplings;
  const auto fine_row = [&](std::size_t k) -> const FineRow& {
    return product[static_cast<std::size_t>(entries[k].column)];
  };
  for (std::size_t row = first; row < last; ++row) {
    for (auto k = static_cast<std::size_t>(restriction.begin[row]);
         k < static_cast<std::size_t>(restriction.begin[row + 1]); ++k) {
      if (k + 2 * rows_ahead < entries.size()) {
        __builtin_prefetch(&fine_row(k + 2 * rows_ahead));
        for (std::size_t entry = 0; entry <= 10; entry += 5)
          __builtin_prefetch(fine_row(k + rows_ahead).data() + entry);
      }
      add(fine_row(k), static_cast<double>(entries[k].value));
    }
    end(row);
  }
}

}  // namespace weft::solver::amg
