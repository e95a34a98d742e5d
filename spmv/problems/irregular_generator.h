#pragma once

#include <vector>

#include "spmv/problems/problem.h"
#include "spmv/rows/row_visitor.h"

namespace weft::spmv {

/// Makes the rows of an irregular symmetric positive definite matrix without storing it.
///
/// Row i proposes (nnzr − 1)/2 partners j, 0 < |i − j| <= bandwidth, one at random (a hash of seed
/// and i) from each of as many equal parts of that window; i and j are coupled when either proposed
/// the other. So a row has about nnzr entries, fewer in a narrow band, where both often propose
/// each other. Entries off the diagonal are a hash of (seed, min, max) in (−1, −0.1]; the diagonal
/// is 1 + the sum of their absolute values in ascending order of columns.
/// Thread: any number at the same time.
class IrregularGenerator {
 public:
  explicit IrregularGenerator(const IrregularSettings& settings);

  /// Visits the rows [begin, end) in ascending order.
  /// Work and memory: O(end - begin + bandwidth) and O(bandwidth), times nnzr.
  void visit_rows(GlobalIndex begin, GlobalIndex end, const RowVisitor& visit) const;

 private:
  struct Couplings;

  /// The partners that `row` proposes, ascending.
  void propose(GlobalIndex row, std::vector<GlobalIndex>& partners) const;
  Couplings couplings_of(GlobalIndex begin, GlobalIndex end) const;
  double value(GlobalIndex row, GlobalIndex column) const;

  IrregularSettings settings_;
};

}  // namespace weft::spmv
