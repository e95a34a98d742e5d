#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/page_vector.h"
#include "spmv/order/row_graph.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// Rows of a matrix of which a_ji is an entry where a_ij is one: neighbours of each.
/// Lifetime: does not own them.
struct SymmetricPattern {
  std::span<const std::int64_t> offsets;  // [row_count + 1]
  std::span<const std::int32_t> columns;  // of each row ascending, with or without itself
  std::span<const std::int32_t> degrees;  // neighbours of each row, without itself; [row_count]

  std::int32_t degree(std::int32_t row) const { return degrees[static_cast<std::size_t>(row)]; }
  std::span<const std::int32_t> neighbours(std::int32_t row) const {
    const auto i = static_cast<std::size_t>(row);
    return {columns.data() + offsets[i], columns.data() + offsets[i + 1]};
  }
};

/// A pattern and those of its arrays that are not of the matrix. It cannot be copied.
struct StoredPattern {
  SymmetricPattern pattern{};
  perfmodel::PageVector<std::int64_t> offsets{};
  perfmodel::PageVector<std::int32_t> columns{};
  perfmodel::PageVector<std::int32_t> degrees{};

  StoredPattern() = default;
  StoredPattern(StoredPattern&&) = default;
  StoredPattern& operator=(StoredPattern&&) = default;
};

/// Lifetime: `graph` outlives it.
StoredPattern pattern_of(const RowGraph& graph);

/// The pattern of the whole matrix, on rank 0; empty on the others. Nothing, on every rank, where
/// it is not symmetric: of patterns that are not, one in 2⁶⁴ is taken for one.
/// Collective. Thread: the main thread, outside the team. Memory: on rank 0 about 4 bytes per
/// nonzero of all ranks, and for a moment on each of the others per nonzero of its own; none on one
/// rank, whose pattern is that of `matrix`. Lifetime: `matrix` outlives it.
/// Throws comm_thread::InputError, on every rank, where rank 0 lacks memory.
std::optional<StoredPattern> collective_gather_symmetric_pattern(
    const comm_thread::Communicator& communicator, const comm_thread::ComputeTeam& team,
    const DistributedMatrix& matrix);

}  // namespace weft::spmv
