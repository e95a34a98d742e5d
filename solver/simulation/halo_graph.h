#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spmv/problems/problem.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// The rows of a problem on so many ranks, and what each rank sends to whom before a product: the
/// messages of spmv::HaloPlan, of all ranks, in one place.
///
///     6×6 example, 2 ranks      rows 0 1 2 | 3 4 5     rank 0 sends x₂ to rank 1, which sends x₃
class HaloGraph {
 public:
  /// A message: how many entries of one vector it has.
  struct Message {
    std::int32_t to = 0;
    std::int32_t count = 0;
  };
  /// The rows of a rank; interior ones need nothing of others.
  struct Part {
    std::int64_t rows = 0;
    std::int64_t interior_rows = 0;
    std::int64_t nonzeros = 0;
    std::size_t first_message = 0;
  };

  /// Visits all rows, of which none is kept. `problem`: a generated one. Memory: 4 bytes a row, and
  /// what it returns. Throws comm_thread::InputError.
  HaloGraph(const spmv::Problem& problem, int rank_count);
  /// `matrix`: all of its rows are on one rank, in the order in which they are dealt out. Memory
  /// and errors: as above.
  HaloGraph(const spmv::DistributedMatrix& matrix, int rank_count);

  int rank_count() const { return static_cast<int>(parts_.size()); }
  const Part& part(int rank) const { return parts_[static_cast<std::size_t>(rank)]; }
  /// What a rank sends, in ascending order of the ranks that it is sent to.
  std::span<const Message> sent_by(int rank) const;
  std::int64_t message_count() const { return static_cast<std::int64_t>(messages_.size()); }
  /// Entries of all messages together.
  std::int64_t entry_count() const;
  std::int64_t row_count() const { return row_count_; }
  std::int64_t nonzero_count() const { return nonzero_count_; }
  /// Ranks that have rows: rows are cut between blocks only, of which there may be fewer.
  int busy_rank_count() const;
  std::int64_t most_rows() const;

 private:
  /// `visit(begin, end, on_row)` calls on_row with the columns of each of these rows.
  template <class VisitRows>
  void build(spmv::GlobalIndex row_count, int rank_count, const VisitRows& visit);

  /// A message with its sender.
  struct Received {
    std::int32_t from;
    Message message;
  };
  /// Shape: all: in ascending order of the receivers.
  void sort_by_sender(std::span<const Received> all);

  std::vector<Part> parts_;
  std::vector<Message> messages_;
  std::int64_t row_count_ = 0;
  std::int64_t nonzero_count_ = 0;
};

}  // namespace weft::solver
