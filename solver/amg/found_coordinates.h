#pragma once

#include <vector>

#include "solver/amg/coarsening/node_rows.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver::amg {

/// Coordinates of nodes, from the matrix alone.
struct FoundCoordinates {
  std::vector<double> places{};  // [own nodes][rows of a node]; empty: none were found
  int steps = 0;  // of the search
};

/// Finds where the nodes of elasticity are, but for a factor and a shift: in the directions of the
/// rows of a node, so that the motions of a rigid body follow. Whole or nearly: near nodes have
/// right places relative to each other, as aggregates need them.
///
/// Coordinates are the lowest vector of `RotationEnergy::energy` relative to its Laplacian, beside
/// the constants. A conjugate gradient search for it begins at a random vector, preconditioned by
/// algebraic multigrid for the Laplacian, a matrix with one row a node: a ninth of the work, in
/// space, of what preconditions the matrix itself. It takes about ten steps. Then conjugate
/// gradients make the energy of all nodes zero but for those next to nodes that are held, whose
/// places stay: in five to twenty steps. Where the quotient does not become small, A is not of
/// elasticity, and nothing is found.
///
/// No bit depends on ranks and threads: the first vector is a hash of global rows, and sums are of
/// whole numbers.
/// `nodes`: of 2 or 3 rows, of `op`. Collective. Thread: the main thread, outside the team.
/// Source: locally optimal steps as in Knyazev 2001, "Toward the optimal preconditioned
/// eigensolver".
FoundCoordinates collective_find_coordinates(const spmv::SparseOperator& op, const NodeRows& nodes);

}  // namespace weft::solver::amg
