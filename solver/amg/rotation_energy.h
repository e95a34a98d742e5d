#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/page_vector.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/node_columns.h"
#include "solver/amg/coarsening/node_rows.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// Two matrices from which the coordinates of the nodes of elasticity follow: the first is nearly
/// 0 for them, compared with the second, and for nothing else but constants.
///
/// x holds a place for each node. A rotation moves node I by ω × x_I, and costs no energy. Summed
/// over the axes ω, the energies of such displacements are xᵀ·E·x, with
///
///     (E·x)_I = Σ_J E_IJ·(x_J − x_I),   E_IJ = trace(A_IJ)·1 − A_IJᵀ    in space and in the plane
///
/// So E maps the true coordinates to 0, apart from nodes next to those that are held: own blocks
/// are left out, as if nothing were held, and what that lacks there is made up for by
/// `share_at_rim` of the second matrix between two such nodes. The second is the Laplacian L of the
/// graph of nodes with weights ‖A_IJ‖.
///
/// Blocks and weights are in single precision: they are most of what the search for coordinates
/// reads, and a few digits of coordinates are enough.
class RotationEnergy {
 public:
  /// `level`: of a symmetric matrix; `nodes`: of 2 or 3 rows. No bit depends on ranks and threads.
  /// Collective. Thread: the main thread, outside the team. Lifetime: refers to nothing of these.
  RotationEnergy(const comm_thread::Crew& crew, const LevelMatrix& level, const NodeRows& nodes);

  /// L, one row for each own node. Thread: the main thread, outside the team. Collective.
  spmv::DistributedMatrix collective_make_laplacian(const comm_thread::Crew& crew) const;

  /// By own node: 1 next to nodes that are held, else 0.
  std::vector<char> nodes_at_rim() const;
  /// Who needs the places of which nodes.
  const spmv::HaloPlan& plan() const { return plan_; }
  /// The nodes of each thread, [thread_count + 1].
  std::span<const spmv::LocalIndex> thread_nodes() const { return thread_nodes_; }

  /// E·x and L·x for the nodes of a thread. Shape: x: [own nodes, then those of the halo][size];
  /// both results: [own nodes][size]. Thread: each of the team for itself.
  void multiply(const comm_thread::TeamThread& thread, const double* x, double* energy,
                double* length) const;

 private:
  /// Couplings of the nodes of a thread, of each node in ascending order of the other.
  struct Part {
    std::vector<std::int64_t> ends{};  // by node, in `columns`
    perfmodel::PageVector<spmv::LocalIndex> columns{};
    perfmodel::PageVector<float> blocks{};  // [columns][size][size]
    perfmodel::PageVector<float> weights{};  // [columns]
    std::vector<char> is_at_rim{};  // by node: 1 next to nodes that are held, else 0
  };
  class NodeCouplings;

  void make_blocks(const comm_thread::Crew& crew, const LevelMatrix& level, const NodeRows& nodes,
                   const LocalNodes& local, std::span<const NodeEntry> tail);
  void collective_turn_blocks(const comm_thread::Crew& crew);
  template <std::size_t size>
  void multiply_nodes(const Part& part, std::size_t first_node, const double* x, double* energy,
                      double* length) const;

  std::size_t size_;  // rows of a node
  spmv::RowPartition nodes_;
  int rank_;
  std::vector<spmv::GlobalIndex> halo_nodes_;
  std::vector<Part> parts_;  // by thread
  std::vector<spmv::LocalIndex> thread_nodes_{};
  spmv::HaloPlan plan_{};
};

}  // namespace weft::solver::amg
