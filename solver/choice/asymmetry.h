#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "spmv/matrix/sparse_operator.h"
#include "spmv/rows/index.h"
#include "spmv/rows/scramble.h"

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

/// What an entry adds to a sum over the matrix. The sum is 0 where every entry has a transposed one
/// with the same bits; of other matrices, one in 2⁶⁴ has a sum of 0. Entries are added in any
/// order, on any rank or thread.
///
///     (3, 5, −1)   + bits(3, 5, −1)
///     (5, 3, −1)   − bits(3, 5, −1)
///
/// An entry that is not a number equals none.
inline std::uint64_t symmetry_bits(spmv::GlobalIndex row, spmv::GlobalIndex column, double value) {
  if (row == column) return 0;
  if (value != value) return 1;
  const auto low = static_cast<std::uint64_t>(row < column ? row : column);
  const auto high = static_cast<std::uint64_t>(row < column ? column : row);
  const auto number = std::bit_cast<std::uint64_t>(value);
  // Odd constants: the golden ratio's and those of SplitMix64.
  const std::uint64_t bits = spmv::scramble(low * 0x9e3779b97f4a7c15 + high * 0xbf58476d1ce4e5b9 +
                                            (number ^ (number >> 32)) * 0x94d049bb133111eb);
  return row < column ? bits : -bits;
}

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
