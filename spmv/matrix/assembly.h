#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// What `MatrixAssembly::collective_merge_mirrored` has found, the same on every rank.
struct MirrorMerge {
  std::int64_t pair_count = 0;  // entries that stood in both triangles with equal values
  bool has_conflict = false;  // unequal values somewhere; the first place follows
  GlobalIndex row = 0;
  GlobalIndex column = 0;
  double value = 0;  // given for (row, column)
  double mirrored = 0;  // follows there from what is given for (column, row)
};

/// Assembles this rank's rows from single entries, in two passes over them, in the memory that the
/// finished matrix needs (12 bytes per nonzero) and hardly more.
///
/// First pass: `count` every entry. Then `allocate`. Second pass: `insert` the same entries, in any
/// order. Then `finish`, which orders each row by global column and adds duplicates up; duplicates
/// are added in ascending order of value, so the sum does not depend on the order of insertion.
/// Thread: different threads may count and insert different rows at the same time, each with its
/// own `thread` index; a row belongs to one thread.
class MatrixAssembly {
 public:
  /// `thread_count`: how many threads will count and insert.
  MatrixAssembly(RowPartition partition, int rank, int thread_count = 1);

  const RowPartition& partition() const { return partition_; }
  GlobalIndex first_row() const { return partition_.begin(rank_); }
  GlobalIndex end_row() const { return partition_.end(rank_); }

  /// `row`: one of this rank's rows; `column`: any; both global.
  void count(GlobalIndex row, GlobalIndex column, int thread = 0);
  void insert(GlobalIndex row, GlobalIndex column, double value);
  /// Inserts an entry off the diagonal that mirrors one of the other triangle. After any of these,
  /// `collective_merge_mirrored` comes before `finish`.
  void insert_mirrored(GlobalIndex row, GlobalIndex column, double value);

  /// Reserves the matrix; pages of large arrays are first touched by the threads of `team` that
  /// will use them. Throws comm_thread::InputError when rows and halo of this rank exceed 2^31 - 1
  /// entries.
  void allocate(const comm_thread::ComputeTeam& team);

  /// Counts once what was given in both triangles: where entries and mirrored ones stand at the
  /// same place, the duplicates of each are added up, and one of two equal sums stays. Collective.
  MirrorMerge collective_merge_mirrored(const comm_thread::Communicator& communicator,
                                        const comm_thread::ComputeTeam& team);

  /// The finished matrix; the assembly is used up.
  /// Collective. Throws comm_thread::InputError on every rank when entries were inserted that had
  /// not been counted.
  DistributedMatrix collective_finish(const comm_thread::Communicator& communicator,
                                      const comm_thread::ComputeTeam& team) &&;

 private:
  bool is_own(GlobalIndex column) const { return column >= first_row() && column < end_row(); }
  /// Nothing for a column that was not counted.
  std::optional<LocalIndex> local_column(GlobalIndex column) const;
  /// The rows [first, last) that `thread` of the team touches first.
  std::pair<std::size_t, std::size_t> rows_of(const comm_thread::TeamThread& thread) const;
  GlobalIndex global_column(LocalIndex column) const;
  /// True if entries [begin, end) of a row are strictly ascending, as generators produce them.
  bool is_in_order(std::size_t begin, std::size_t end) const;
  void merge_mirrored_row(std::size_t row, MirrorMerge& merge);
  void order_rows(const comm_thread::ComputeTeam& team);
  void close_gaps();

  RowPartition partition_;
  int rank_;
  std::vector<std::unordered_set<GlobalIndex>> remote_columns_;  // per thread, first pass
  std::vector<GlobalIndex> halo_columns_;  // ascending, second pass
  std::vector<LocalIndex> thread_rows_;  // [thread_count + 1]
  std::vector<LocalIndex> filled_;  // per row, second pass
  std::atomic<bool> has_changed_{false};  // entries came in that had not been counted
  CrsMatrix rows_;
};

}  // namespace weft::spmv
