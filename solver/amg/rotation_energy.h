#pragma once

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/node_rows.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::solver::amg {

/// Two matrices from which the coordinates of the nodes of elasticity follow: the first is nearly
/// 0 for them, compared with the second, and for nothing else but constants.
///
/// x holds a place for each node. A rotation moves node I by ω × x_I, and costs no energy. Summed
/// over the axes ω, the energies of such displacements are xᵀ·E·x, with blocks
///
///     E_IJ = trace(A_IJ)·1 − A_IJᵀ     in space and in the plane
///
/// So E maps the true coordinates to 0, apart from nodes next to those that are held: their own
/// blocks are replaced by −ΣE_IJ, as if nothing were held, and what that lacks there is made up for
/// by `share_at_rim` of the second matrix between two such nodes.
struct RotationEnergy {
  spmv::DistributedMatrix energy;  // [nodes · rows of a node]
  spmv::DistributedMatrix laplacian;  // of the graph of nodes with weights ‖A_IJ‖
};

/// `level`: of a symmetric matrix; `nodes`: of 2 or 3 rows. No bit depends on ranks and threads.
/// Collective. Thread: the main thread, outside the team.
RotationEnergy collective_build_rotation_energy(const comm_thread::Crew& crew,
                                                const LevelMatrix& level, const NodeRows& nodes);

}  // namespace weft::solver::amg
