#pragma once

#include "spmv/problems/problem.h"
#include "spmv/rows/row_visitor.h"

namespace weft::spmv {

/// Makes the rows of Anderson's model of an electron in a disordered crystal: −1 to the six
/// neighbours on a periodic grid, x fastest, and a diagonal that is uniform in [−W/2, W/2), a hash
/// of (seed, row). Where a direction has one or two points, entries coincide and are added up.
/// Symmetric, indefinite. Thread: any number at the same time.
class AndersonGenerator {
 public:
  /// `problem`: anderson3d.
  explicit AndersonGenerator(const Problem& problem)
      : grid_(problem.grid), settings_(problem.anderson) {}

  /// Visits the rows [begin, end) in ascending order.
  void visit_rows(GlobalIndex begin, GlobalIndex end, const RowVisitor& visit) const;

 private:
  GridSize grid_;
  AndersonSettings settings_;
};

}  // namespace weft::spmv
