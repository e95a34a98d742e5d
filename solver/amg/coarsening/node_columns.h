#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/node_rows.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// An entry of a matrix, by global numbers.
struct NodeEntry {
  spmv::GlobalIndex row;
  spmv::GlobalIndex column;
  double value;
};

/// Entries of rows whose node this rank has, but another rank the row, in ascending order.
/// Collective. Thread: the main thread. Talks to those concerned only.
std::vector<NodeEntry> collective_fetch_tail(const comm_thread::Crew& crew,
                                             const LevelMatrix& level, const NodeRows& nodes);

/// Numbers of nodes on this rank: its own, then others in ascending order.
class LocalNodes {
 public:
  /// `tail`: of collective_fetch_tail.
  LocalNodes(const LevelMatrix& level, const NodeRows& nodes, std::span<const NodeEntry> tail);

  spmv::LocalIndex local(spmv::GlobalIndex node) const;
  spmv::GlobalIndex global(spmv::LocalIndex node) const {
    return node < own_count_ ? first_ + node : others[static_cast<std::size_t>(node - own_count_)];
  }
  std::size_t count() const { return static_cast<std::size_t>(own_count_) + others.size(); }

  std::vector<spmv::GlobalIndex> others{};
  std::vector<spmv::LocalIndex> of_column{};  // by local column of the level's matrix

 private:
  bool is_own(spmv::GlobalIndex node) const { return node >= first_ && node < first_ + own_count_; }

  spmv::GlobalIndex first_;
  spmv::LocalIndex own_count_;
};

}  // namespace weft::solver::amg
