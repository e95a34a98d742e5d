#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "perfmodel/page_vector.h"
#include "solver/amg/coarsening/coupling.h"
#include "solver/amg/coarsening/foreign_rows.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/product_rows.h"
#include "solver/amg/coarsening/row_accumulator.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// Consecutive fine rows.
struct FineRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
  void add(std::size_t row) {
    begin = size() == 0 ? row : std::min(begin, row);
    end = std::max(end, row + 1);
  }
};

/// Rows of A·P for a thread that makes coarse rows in ascending order: each is made when it is
/// first asked for, and leaves its memory to others when the last coarse row that needs it is done.
/// In a good order of the rows these are few at a time, and stay in a cache: of the mesh of 220 325
/// rows 2 MB instead of 30.
class ProductWindow {
 public:
  /// `range`: fine rows that may be asked for. `coarse_end`: no coarse row from there on asks.
  ProductWindow(const LevelMatrix& level, const CouplingRows<float>& prolongator,
                spmv::LocalIndex column_count, std::size_t block, FineRange range,
                std::size_t coarse_end)
      : level_(level),
        prolongator_(prolongator),
        block_(block),
        range_(range),
        coarse_end_(coarse_end),
        sums_(column_count),
        rows_(range.size(), FineRow{}) {}

  /// Row `fine` of A·P, which is valid while coarse row `coarse` is made.
  FineRow row(std::size_t fine, std::size_t coarse) {
    FineRow& row = rows_[fine - range_.begin];
    if (!row.data()) {
      add_product_row(level_, prolongator_, fine,
                      [&](std::span<const Coupling<float>> of_column, double value) {
                        sums_.add_row(of_column, value, block_);
                      });
      row = store(sums_.open_row(), last_use(fine), coarse);
      sums_.drop_row();
    }
    return row;
  }

  /// Fetches what the entries of R behind number `k` need, up to `last`: rows of A, or of A·P where
  /// they are there. Inline, because GCC leaves out calls of functions that only fetch.
  [[gnu::always_inline]] void fetch_ahead(std::span<const Coupling<float>> restriction,
                                          std::size_t k) const {
    if (k + 2 * fetched_ahead >= restriction.size()) return;
    const spmv::CrsMatrix& a = level_.matrix.rows;
    if (const auto fine = static_cast<std::size_t>(restriction[k + 2 * fetched_ahead].column);
        is_in_range(fine)) {
      __builtin_prefetch(&rows_[fine - range_.begin]);
      __builtin_prefetch(&a.row_offsets[fine]);
    }
    const auto fine = static_cast<std::size_t>(restriction[k + fetched_ahead].column);
    if (!is_in_range(fine)) return;
    if (const PackedCoupling* const made = rows_[fine - range_.begin].data()) {
      __builtin_prefetch(made);
      __builtin_prefetch(made + 5);  // the next line of the cache
      return;
    }
    const auto entry = static_cast<std::size_t>(a.row_offsets[fine]);
    __builtin_prefetch(a.columns.data() + entry);
    __builtin_prefetch(a.values.data() + entry);
    __builtin_prefetch(a.values.data() + entry + 8);
  }

  /// The most entries at once, and room for some more.
  std::size_t room() const {
    std::size_t entries = 0;
    for (const Chunk& chunk : chunks_) entries += chunk.entries.capacity();
    return entries;
  }

 private:
  static constexpr std::size_t chunk_entries = 4096;
  static constexpr std::size_t fetched_ahead = 4;  // entries of R, of which few need a new row

  bool is_in_range(std::size_t fine) const { return fine >= range_.begin && fine < range_.end; }

  struct Chunk {
    perfmodel::PageVector<PackedCoupling> entries{};
    std::size_t last_use = 0;  // the last coarse row that needs one of its rows
  };

  /// The last coarse row of the thread to which a fine row contributes.
  std::size_t last_use(std::size_t fine) const {
    std::size_t last = 0;
    for (const auto& [value, column] : prolongator_.row(fine))
      if (const auto coarse = static_cast<std::size_t>(column); coarse < coarse_end_)
        last = std::max(last, coarse);
    return last;
  }

  FineRow store(std::span<const Coupling<double>> row, std::size_t last_use, std::size_t coarse) {
    const auto has_room = [&](const Chunk& chunk) {
      return chunk.entries.capacity() - chunk.entries.size() >= row.size();
    };
    if (chunks_.empty() || !has_room(chunks_[current_])) take_chunk(row.size(), coarse);
    Chunk& chunk = chunks_[current_];
    chunk.last_use = std::max(chunk.last_use, last_use);
    const PackedCoupling* const begin = chunk.entries.data() + chunk.entries.size();
    for (const Coupling<double>& coupling : row) chunk.entries.emplace_back(coupling);
    return {begin, row.size()};
  }

  /// One whose rows are no longer needed, or a new one.
  void take_chunk(std::size_t least_entries, std::size_t coarse) {
    for (current_ = 0; current_ < chunks_.size(); ++current_) {
      Chunk& chunk = chunks_[current_];
      if (chunk.last_use >= coarse || chunk.entries.capacity() < least_entries) continue;
      chunk.entries.clear();
      chunk.last_use = 0;
      return;
    }
    chunks_.emplace_back().entries.reserve(std::max(least_entries, chunk_entries));
  }

  const LevelMatrix& level_;
  const CouplingRows<float>& prolongator_;
  std::size_t block_;
  FineRange range_;
  std::size_t coarse_end_;
  RowAccumulator sums_;
  perfmodel::PageVector<FineRow> rows_;  // of the range; null where there is none yet
  std::vector<Chunk> chunks_;
  std::size_t current_ = 0;
};

}  // namespace weft::solver::amg
