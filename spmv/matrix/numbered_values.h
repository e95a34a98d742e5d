#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/matrix/prefetch.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// The values of rows in CRS where there are few different ones: numbers of 16 bits, and a table of
/// the values. Matrices of models of physics and of graphs are so.
///
///     values   4 −1 −1 −1 4 −1 −1 4      numbers   0 1 1 1 0 1 1 0      table   4 −1
///
/// Columns and row offsets stay those of CRS, and so do the order of the sums and their bits.
/// Memory: 2 bytes per nonzero, which a product reads instead of 8; 32 kB of table at most.
/// Source: Kourtis, Goumas, Koziris, "Optimizing sparse matrix-vector multiplication using index
/// and value compression", Computing Frontiers 2008 (CSR-VI). Measured: docs/notes/products.md.
class NumberedValues {
 public:
  /// Different values at most.
  static constexpr std::size_t most_values = 4096;
  /// Fewer nonzeros stay in a cache near the core, where bytes do not count.
  static constexpr std::int64_t least_nonzeros = 1 << 16;

  /// Of rows begin … end-1; nothing where there are too few nonzeros or too many values: that is
  /// found from a sample of rows in most cases. Values are different where their bits are.
  /// Thread: the one that will multiply them. Takes one to three times as long as a product.
  static std::optional<NumberedValues> find(const CrsMatrix& rows, LocalIndex begin,
                                            LocalIndex end);

  /// Reads the values as StoredValues does.
  struct Reader {
    const double* table;
    const std::uint16_t* numbers;
    std::int64_t first_nonzero;

    [[gnu::always_inline]] double operator[](std::int64_t k) const {
      return table[numbers[k - first_nonzero]];
    }
    [[gnu::always_inline]] void prefetch_from(std::int64_t k) const {
      prefetch(numbers + (k - first_nonzero));
    }
  };
  Reader reader() const { return {table_.data(), numbers_.data(), first_nonzero_}; }

  /// True if couplings lead far on average, so that several vectors are multiplied sooner in CRS
  /// than in SELL, which takes rows out of their order (SplitMatrix::in_due_form).
  bool lead_far() const { return mean_distance_ > far_distance; }

  /// How many different values there are.
  std::size_t value_count() const { return table_.size(); }
  /// Bytes that a product reads instead of the values in CRS.
  std::int64_t bytes() const;

 private:
  class Numbering;

  NumberedValues(const CrsMatrix& rows, LocalIndex begin, LocalIndex end);
  /// False where there are too many values.
  bool store(const CrsMatrix& rows);

  /// Rows. Mean distances, and the time of searches for eigenvalues without SELL-8 over that with
  /// it, four vectors: graphs of 30³, 60³ and 100³ points, below 2900, 1.3, 1.3 and 1.0;
  /// Holstein-Hubbard matrix 13 520, where products in SELL-8 take twice as long.
  static constexpr double far_distance = 8192;

  std::int64_t first_nonzero_;
  double mean_distance_ = 0;  // |column − row|, of a sample
  perfmodel::HugePageBuffer<std::uint16_t> numbers_;  // [nonzeros of the rows]
  std::vector<double> table_;  // [value_count]
};

}  // namespace weft::spmv
