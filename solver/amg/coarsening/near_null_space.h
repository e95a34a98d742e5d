#pragma once

#include <span>
#include <vector>

#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// Vectors that the matrix maps nearly to zero, which every coarse level is to represent exactly,
/// and how many consecutive rows belong to one node of the mesh.
///
/// Without vectors, and with one row a node, it is the constant vector.
struct NearNullSpace {
  int block_size = 1;  // rows of a node
  int vector_count = 0;
  std::vector<double> values{};  // [own rows][vector_count]

  bool is_constant() const { return vector_count == 0; }
};

/// Most vectors, and most rows of a node.
constexpr int most_near_null_vectors = 32;

/// One constant vector for each of the rows of a node. `first_row`: of this rank.
NearNullSpace constants_of_nodes(int block_size, spmv::GlobalIndex first_row,
                                 spmv::LocalIndex row_count);

/// The modes of a rigid body: translations, then rotations. `coordinates`: of the node of each of
/// this rank's rows, [own rows][dimensions]; `dimensions`: 2 or 3, which is also how many rows a
/// node has. 3 or 6 vectors.
/// Source: Vanek, Mandel, Brezina 1996, section 4.
NearNullSpace rigid_body_modes(std::span<const double> coordinates, int dimensions,
                               spmv::GlobalIndex first_row);

}  // namespace weft::solver::amg
