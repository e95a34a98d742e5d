#pragma once

#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// Order in which a thread processes the rows of a grid with large planes: the equivalent of
/// GridStrips for stored matrices.
///
/// A row of a grid in three dimensions needs entries of x one plane before and one behind itself.
/// Where three planes do not stay in cache, rows in their own order fetch x three times from
/// memory; so planes are cut, and a strip is processed in all of them before the next:
///
///     plane 0: a a a b b b c c c       order: a of planes 0 1 2, then b of 0 1 2, then c
///     plane 1: a a a b b b c c c
///     plane 2: a a a b b b c c c
///
/// The size of a plane is the distance that most rows reach. If there is no such distance, or a
/// plane stays in cache anyway, all rows are one strip.
/// Measured: docs/notes/products.md.
class RowStrips {
 public:
  /// 0.25 MB of a plane: three stay in a second-level cache of 1 MiB, beside y.
  static constexpr LocalIndex strip_rows = 32768;

  /// For rows begin … end-1.
  RowStrips(const CrsMatrix& rows, LocalIndex begin, LocalIndex end);

  /// Rows are taken in ascending order of strips.
  LocalIndex strip_of(LocalIndex row) const { return plane_ == 0 ? 0 : row % plane_ / strip_rows; }

  /// Rows of a plane; 0 where there is only one strip.
  LocalIndex plane() const { return plane_; }

 private:
  LocalIndex plane_;
};

}  // namespace weft::spmv
