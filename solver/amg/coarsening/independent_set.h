#pragma once

#include <cstdint>

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/row_values.h"
#include "solver/amg/coarsening/strong_rows.h"

namespace weft::solver::amg {

/// Which rows of a rank, and of its halo, are roots: a maximal set of rows of which no two have a
/// path of two strong couplings or less between them.
///
///     6×6 tridiagonal     roots 1 and 4, for instance: 0 [1] 2 | 3 [4] 5
///
/// Every row without couplings is outside. Rows on which many depend come first, and of those with
/// as many the order is random: each round, all rows that are not decided get a number that depends
/// on the global row and the round alone. A row is a root once it comes first within two couplings.
/// So the set does not depend on ranks and threads.
///
/// Without a preference for rows on which many depend, a checkerboard of coefficients 1 and 1000
/// takes 50 iterations instead of 32, lognormal ones 46 instead of 42, and others one more or less.
/// Source: Kelley and Rajamanickam 2022, "Parallel, portable algorithms for distance-2 maximal
/// independent set and graph coarsening", algorithm 1.
class IndependentSet {
 public:
  /// Collective. Thread: the main thread, outside the team. Each round: two halo exchanges of 8
  /// bytes a row and one sum over the ranks.
  IndependentSet(const comm_thread::Crew& crew, const LevelMatrix& level, const StrongRows& strong);

  bool is_root(std::size_t row) const { return words_[row] == root; }

 private:
  /// A word is the state of a row: a root, outside, or the priority of one that is not decided: 6
  /// bits by which rows depend on it, as many random ones as there is room for, and its global row
  /// plus one.
  using Word = std::uint64_t;
  static constexpr Word root = 0;
  static constexpr Word outside = ~Word{0};

  RowValues<Word> words_;
};

}  // namespace weft::solver::amg
