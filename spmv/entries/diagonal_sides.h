#pragma once

#include <string>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/index.h"

namespace weft::spmv {

/// What the caller says of a matrix that has entries on one side of the diagonal only.
enum class Triangle {
  unsaid,
  mirrored,  // it is half of a symmetric matrix
  as_is,  // it is triangular
};

/// Triangle::unsaid for an empty word, else "mirrored" or "as-is".
Triangle parse_triangle(const std::string& word);

/// On which sides of the diagonal a matrix has entries. Explicit zeros are none.
///
///     6×6, by blocks of 2:   d d a a . .      has_above, not has_below:
///                            d d a a . .      half of a symmetric matrix, whose diagonal blocks
///                            . . d d a a      are whole, as PETSc's SBAIJ stores it
///                            . . d d a a
///                            . . . . d d
///                            . . . . d d
struct DiagonalSides {
  bool has_below = false;
  bool has_above = false;
  GlobalIndex block_size = 1;  // above 1: sides of the symmetric blocks on the diagonal

  bool is_one_sided() const { return has_below != has_above; }
  /// "found entries … only; expected …": the line that says what the matrix may be.
  std::string text() const;
};

/// Looks at every row until both sides are seen: a few rows of most matrices. `block_size`: rows of
/// the diagonal blocks where the file says it, else 0; then blocks of 2 to 32 rows are looked for
/// that are symmetric, each with enough pairs of mirror images to couple its rows, where all other
/// entries are on one side.
/// Collective. Thread: the main thread, outside the team.
DiagonalSides collective_find_sides(const comm_thread::Communicator& communicator,
                                    const comm_thread::ComputeTeam& team,
                                    const DistributedMatrix& matrix, GlobalIndex block_size = 0);

}  // namespace weft::spmv
