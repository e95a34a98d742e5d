#pragma once

#include <span>
#include <vector>

#include "spmv/problems/problem.h"
#include "spmv/rows/row_visitor.h"

namespace weft::spmv {

/// Makes the rows of a grid problem: a point, its neighbours with minus their weights, points
/// outside the grid (Dirichlet) left out.
///
///     poisson2d:3x2        0 1 2     row 0:  4 -1  . -1  .  .
///     (x fastest)          3 4 5     row 4:  . -1  . -1  4 -1
///
/// Thread: any number at the same time.
class StencilGenerator {
 public:
  /// `problem`: one with a stencil.
  explicit StencilGenerator(const Problem& problem);

  /// Visits the rows [begin, end) in ascending order.
  void visit_rows(GlobalIndex begin, GlobalIndex end, const RowVisitor& visit) const;

  /// Sum of the weights of each row's missing neighbours, in the order of their columns: the
  /// right-hand side if all eliminated boundary values are 1.
  /// `missing`: [end - begin].
  void sum_missing_weights(GlobalIndex begin, GlobalIndex end, std::span<double> missing) const;

 private:
  /// One point of the stencil; (0, 0, 0) is the point itself.
  struct Leg {
    int x, y, z;
    GlobalIndex distance;  // from the row to the column
    double value;  // of the matrix entry
  };
  /// A line of grid points in x direction, or the part of it inside [begin, end).
  struct Line {
    GlobalIndex begin, end;  // rows
    GlobalIndex x, y, z;  // of the first
  };

  void add_leg(int x, int y, int z, double value);
  Line line_at(GlobalIndex row, GlobalIndex end) const;
  bool is_inside(const Line& line, const Leg& leg) const;

  GridSize grid_;
  std::vector<Leg> legs_;  // ascending by distance
};

}  // namespace weft::spmv
