#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "spmv/problems/problem.h"
#include "spmv/rows/row_visitor.h"

namespace weft::spmv {

/// Makes the rows of linear elasticity on a bar of NX × NY × NZ unit cubes, trilinear hexahedra,
/// with Young's modulus 1 and the face x = 0 clamped: its nodes have no rows. The others are
/// numbered x fastest, and each has three rows, its displacements in x, y and z. Symmetric to the
/// last bit, positive definite; up to 81 entries a row. With `mass` the consistent mass matrix of
/// density 1 instead: in each direction a line of (1 4 1)/6 with halves at its ends, and no
/// couplings between directions of displacement; up to 27 entries a row.
///
///     NX = 2, one line of nodes     clamped ─ node 0: rows 0 1 2 ─ node 1: rows 3 4 5
///
/// Thread: any number at the same time.
/// Source: Hughes, "The Finite Element Method", sections 2.7 and 3.5; Gauss' rule of 2 × 2 × 2.
class ElasticityGenerator {
 public:
  static constexpr int rows_of_node = 3;

  /// `problem`: elasticity3d.
  explicit ElasticityGenerator(const Problem& problem);

  /// Visits the rows [begin, end) in ascending order.
  void visit_rows(GlobalIndex begin, GlobalIndex end, const RowVisitor& visit) const;

  /// The place of a node, in the length of an element; the clamped face has x = 0.
  std::array<double, 3> coordinates(GlobalIndex node) const;

 private:
  static constexpr std::size_t corners = 8;
  static constexpr std::size_t element_rows = 3 * corners;
  /// Couplings of a node with its 27 neighbours, x fastest, and itself: [27][3][3].
  using Couplings = std::array<double, 27 * 9>;

  struct Place {
    std::array<GlobalIndex, 3> at;  // of all nodes, from 0: clamped
    std::array<GlobalIndex, 3> last;
  };

  Place place(GlobalIndex node) const;
  void fill_element(double poisson_ratio);
  void fill_mass();
  Couplings couplings(std::size_t sides) const;

  GridSize elements_;
  std::array<std::array<double, element_rows>, element_rows> element_{};
  /// By which of the sides −x +x −y +y −z +z have elements: a bit each.
  std::vector<Couplings> couplings_;
};

}  // namespace weft::spmv
