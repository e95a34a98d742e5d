#pragma once

#include <optional>
#include <span>
#include <vector>

namespace weft::solver {

/// The best combination of some vectors, by their products G and those with the right-hand side.
struct BestCombination {
  std::vector<double> factors;  // of the vectors; 0 of those that were left out
  /// By how much each vector, taken after those before it, makes the square of the error smaller.
  std::vector<double> squares;
};

/// Solves G·c = g by Cholesky's method on G scaled to ones on the diagonal; vectors that depend on
/// those before them, but for rounding, are left out. Nothing where no vector is left. `upper`: the
/// upper triangle of G, row by row. Shape: [n·(n + 1)/2], g: [n].
std::optional<BestCombination> find_best_combination(std::span<const double> upper,
                                                     std::span<const double> g);

}  // namespace weft::solver
