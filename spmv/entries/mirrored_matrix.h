#pragma once

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/entries/diagonal_sides.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// The symmetric matrix of which `half` has entries on one side of the diagonal, or of the blocks
/// on it: each entry off the diagonal stands for its mirror image, too. Where both are there they
/// must be equal, and count once; a matrix that has both triangles stays as it is if they are
/// mirror images. `sides`: of `half`.
///
/// Explicit zeros off the diagonal are left out, but the halo has the columns of all entries and
/// their mirror images, so that it does not depend on values.
/// Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError on every
/// rank, with a text that begins with what was found. Memory: beside both matrices 48 bytes for
/// each entry whose mirror image is of another rank.
DistributedMatrix collective_mirror(const comm_thread::Communicator& communicator,
                                    const comm_thread::ComputeTeam& team,
                                    const DistributedMatrix& half, const DiagonalSides& sides);

}  // namespace weft::spmv
