#pragma once

#include <optional>
#include <string>

#include "spmv/matrix/sparse_operator.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// Two entries that differ although the matrix would be symmetric if they did not.
struct Asymmetry {
  spmv::GlobalIndex row = 0;  // from 0; the lower of the two numbers
  spmv::GlobalIndex column = 0;
  double value = 0;  // a_ij, 0 where it is not stored
  double transposed = 0;  // a_ji

  /// "found 2.5 at row 3, column 7 and -1 at row 7, column 3", counted from 1.
  std::string text() const;
};

/// The first pair of entries that differ, by row, then by column; the same on every rank. Two count
/// as equal where they differ by no more than rounding: 1e-10 of the larger one, or 1e-14 of the
/// larger of their diagonal entries.
///
/// A row finds the transposed entry in the own row of its column, at a place that moves on from row
/// to row; entries whose transposed one another rank has are sent there. Several times as slow as a
/// pass over the entries.
/// Collective. Thread: the main thread, outside the team.
std::optional<Asymmetry> collective_find_asymmetry(const spmv::SparseOperator& op);

}  // namespace weft::solver
