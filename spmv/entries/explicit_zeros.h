#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// How many entries off the diagonal are exactly zero, on all ranks. Collective. Thread: the main
/// thread, outside the team, here and below.
std::int64_t collective_count_zeros(const comm_thread::Communicator& communicator,
                                    const comm_thread::ComputeTeam& team,
                                    const DistributedMatrix& matrix);

/// Leaves out the entries off the diagonal that are exactly zero, in place. The halo stays, also
/// where no entry needs it any more. Collective.
void collective_drop_zeros(const comm_thread::Communicator& communicator,
                           const comm_thread::ComputeTeam& team, DistributedMatrix& matrix);

/// Takes the columns that no entry needs out of the halo.
void drop_unused_halo(DistributedMatrix& matrix);
/// Takes those columns out of the halo that are not used: by no entry. Shape: is_used: [halo
/// count].
void keep_halo(DistributedMatrix& matrix, std::span<const char> is_used);

/// The same rows in memory of their own, whose pages the threads of the team touch first.
CrsMatrix copy_rows(const comm_thread::ComputeTeam& team, const CrsMatrix& rows);

/// Rows whose threads fill less than their shares of the arrays.
///
///     begins of two shares:  0 . . 3 . .     filled:  a b _ c d _     joined:  a b c d
class FilledShares {
 public:
  /// `first`: the first row of each share, and the last row's end; the offsets of `rows` say where
  /// their entries may begin. Lifetime: `rows` outlives it.
  FilledShares(CrsMatrix& rows, std::vector<std::size_t> first);

  std::int64_t begin(std::size_t share) const { return begins_[share]; }
  /// The end that the share was given.
  std::int64_t end(std::size_t share) const { return begins_[share + 1]; }
  /// Where a share is filled to; the offsets of its rows are then those of what is there. Thread:
  /// each may do it for its own share.
  void set_end(std::size_t share, std::int64_t end) { ends_[share] = end; }
  /// Moves the entries of all shares together, and their offsets.
  void join();

 private:
  CrsMatrix& rows_;
  std::vector<std::size_t> first_;
  std::vector<std::int64_t> begins_;
  std::vector<std::int64_t> ends_;
};

/// What is said about zeros that were left out of `entry_count` entries.
std::string text_of_zeros(std::int64_t zero_count, std::int64_t entry_count);

}  // namespace weft::spmv
