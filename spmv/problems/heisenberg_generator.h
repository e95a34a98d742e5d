#pragma once

#include <cstdint>
#include <vector>

#include "spmv/problems/heisenberg_settings.h"
#include "spmv/rows/row_visitor.h"

namespace weft::spmv {

/// Makes the rows of a Heisenberg ring: 1/2 to each state in which two unlike neighbours have
/// changed places, and on the diagonal 1/4 for each pair of like neighbours, −1/4 for each of
/// unlike ones. On a ring of two sites both bonds add up. Symmetric, indefinite.
///
///     4 sites, Sz = 0:   0011 0101 0110 1001 1010 1100     bit i: does spin i point up?
///     row                  0    1    2    3    4    5      ascending numbers
///
/// The number of a state is Σ_j C(p_j, j), its j-th spin up being at site p_j; so nothing is kept
/// of the size of the space. Thread: any number at the same time.
class HeisenbergGenerator {
 public:
  explicit HeisenbergGenerator(const HeisenbergSettings& settings);

  /// Visits the rows [begin, end) in ascending order. Work: sites · up each.
  void visit_rows(GlobalIndex begin, GlobalIndex end, const RowVisitor& visit) const;

 private:
  using State = std::uint64_t;

  GlobalIndex combinations(int n, int k) const {
    return table_[static_cast<std::size_t>(n)][static_cast<std::size_t>(k)];
  }
  State state_of(GlobalIndex row) const;
  GlobalIndex row_of(State state) const;

  HeisenbergSettings settings_;
  std::vector<std::vector<GlobalIndex>> table_;  // [sites][up + 1], of n and k
};

}  // namespace weft::spmv
