#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "solver/multigrid/sweepers/coarse_boxes.h"
#include "spmv/grid/box.h"
#include "spmv/grid/partition.h"

namespace weft::solver {

/// The messages between one rank and the rank that solves on the gathered grid, on channels:
///
///     question   | version | share of the right-hand side                  | see CoarseParts
///     answer     | version | versions of the neighbours' shares | solution |
///
/// A version counts the corrections that a rank has added. An answer names the share that it
/// answers, so that a rank adds one correction to one state of its values, whatever comes late,
/// twice or not at all.
struct CoarseMessages {
  /// Of `rank`, whose halo is `halo_depth` points deep.
  CoarseMessages(const CoarseBoxes& boxes, const spmv::GridPartition& partition, int rank,
                 int halo_depth)
      : asked(boxes.shares.back()), answered(boxes.corrected.back()) {
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

  spmv::GridBox asked;  // points of the gathered grid
  spmv::GridBox answered;
  std::vector<int> neighbours;  // in ascending order
};

}  // namespace weft::solver
