#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/sweepers/own_restriction.h"
#include "spmv/grid/box.h"
#include "spmv/grid/partition.h"

namespace weft::solver {

/// The messages between one rank and the rank that has the coarser grids, on channels:
///
///     question   | version | share of the right-hand side                  | see OwnRestriction
///     answer     | version | versions of the neighbours' shares | solution |
///
/// A version counts the corrections that a rank has added. An answer names the share that it
/// answers, so that a rank adds one correction to one state of its values, whatever comes late,
/// twice or not at all.
struct CoarseMessages {
  /// Of `rank`, whose halo is `halo_depth` points deep.
  CoarseMessages(const std::vector<GridLevel>& levels, const spmv::GridPartition& partition,
                 int rank, int halo_depth)
      : asked(OwnRestriction::points_of(levels[0], levels[1], partition.box(rank))),
        answered(grown(partition.box(rank), halo_depth, levels[0].points())) {
    for (std::size_t d = 0; d < 3; ++d)
      if (levels[0].is_coarsened[d]) {
        answered.begin[d] = answered.begin[d] / 2 - 1;
        answered.end[d] = answered.end[d] / 2 + 1;
      }
    answered = intersection(answered, levels[1].points());
    for (const spmv::GridNeighbour& neighbour : partition.neighbours(rank, halo_depth, true))
      neighbours.push_back(neighbour.rank);
  }

  std::size_t question_size() const { return 1 + static_cast<std::size_t>(asked.point_count()); }
  std::size_t answer_size() const {
    return 1 + neighbours.size() + static_cast<std::size_t>(answered.point_count());
  }
  template <class Value>
  static std::span<Value> share_of(std::span<Value> question) {
    return question.subspan(1);
  }
  template <class Value>
  std::span<Value> solution_of(std::span<Value> answer) const {
    return answer.subspan(1 + neighbours.size());
  }
  /// Element `i` of a message as a version, and back.
  static std::int64_t version_at(std::span<const double> message, std::size_t i) {
    return std::bit_cast<std::int64_t>(message[i]);
  }
  static void set_version(std::span<double> message, std::size_t i, std::int64_t version) {
    message[i] = std::bit_cast<double>(version);
  }

  spmv::GridBox asked;  // points of the first coarser grid
  spmv::GridBox answered;
  std::vector<int> neighbours;  // in ascending order
};

}  // namespace weft::solver
