#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/modes/linear_operator.h"

namespace weft::solver {

/// The rows of this rank in three places: in a vector of an operator, packed without gaps, and in a
/// whole vector in order of global rows, as a file holds it.
///
///     vector    . r7 r8 . . r4 r5 .      packed   r7 r8 r4 r5      whole   …r4 r5 . r7 r8…
///
/// Lifetime: independent of the operator.
class PackedRows {
 public:
  /// Rows that follow each other in a vector.
  struct Piece {
    std::size_t element;  // of the first one
    std::int64_t global_row;
    std::size_t count;
  };

  explicit PackedRows(const spmv::LinearOperator& op);
  /// `pieces`: of every thread of the team, those of no row left out. `global_count`: rows of all
  /// ranks.
  PackedRows(const std::vector<std::vector<Piece>>& pieces, std::int64_t global_count);

  /// Rows of this rank, and of all ranks.
  std::size_t count() const { return count_; }
  std::int64_t global_count() const { return global_count_; }

  /// Copies the rows of `thread` from a vector, or back. Shape: vector: [element_count], packed:
  /// [count()]. Thread: every thread of the team.
  void pack(const comm_thread::TeamThread& thread, const double* vector, double* packed) const;
  void unpack(const comm_thread::TeamThread& thread, const double* packed, double* vector) const;

  /// Calls work(first element in a vector, first one in the packed copy, count) for the rows of
  /// `thread`.
  template <class Work>
  void for_each_piece(const comm_thread::TeamThread& thread, const Work& work) const {
    for (const Place& place : places_[static_cast<std::size_t>(thread.index)])
      work(place.element, place.packed, place.count);
  }

  /// Rows that follow each other both in the packed copy and in the whole vector.
  struct Run {
    std::int64_t global_row;
    std::size_t packed;
    std::size_t count;
  };
  /// In ascending order of rows.
  std::span<const Run> runs() const { return runs_; }

  /// A checksum of a packed vector. The sum over the ranks, modulo 2⁶⁴, does not depend on how the
  /// rows are dealt to ranks and threads. `number`: tells vectors apart.
  std::uint64_t checksum(const double* packed, std::size_t number) const;

 private:
  struct Place {
    std::size_t element;
    std::size_t packed;
    std::size_t count;
  };

  std::size_t count_ = 0;
  std::int64_t global_count_;
  std::vector<std::vector<Place>> places_;  // of every thread
  std::vector<Run> runs_;
};

/// The same of a vector of `op`, over all ranks. Collective. Thread: the main thread, outside the
/// team. Shape: vector: [element_count].
std::uint64_t collective_checksum(const spmv::LinearOperator& op, const double* vector);

/// Sum over the ranks, modulo 2⁶⁴. Collective.
std::uint64_t collective_add(const comm_thread::Communicator& communicator, std::uint64_t own);

}  // namespace weft::solver
