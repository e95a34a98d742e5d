#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/files/matrix_market_entries.h"
#include "spmv/files/matrix_market_header.h"
#include "spmv/files/matrix_market_router.h"
#include "spmv/files/remarks.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"
#include "spmv/rows/partition_by.h"

namespace weft::spmv {

/// The entries of a matrix that this rank reads, in any order, as often as needed.
///
/// Ranks may have unlike numbers of them, or none. All throw comm_thread::InputError.
class EntryStream {
 public:
  EntryStream() = default;
  virtual ~EntryStream() = default;
  EntryStream(const EntryStream&) = delete;
  EntryStream& operator=(const EntryStream&) = delete;

  virtual void rewind() = 0;
  virtual bool is_at_end() const = 0;
  /// Replaces `entries` by the next ones, some thousands at most; values are 1 unless `has_values`.
  virtual void read(bool has_values, std::vector<MatrixEntry>& entries) = 0;
};

/// What is known of a matrix before its entries are read.
struct StreamedMatrix {
  using Symmetry = MatrixMarketHeader::Symmetry;

  std::string name;  // of the file, for messages
  GlobalIndex row_count = 0;
  Symmetry symmetry = Symmetry::general;  // of the others only one triangle is given
};

/// Calls take(entry) on the rank that owns the entry's row, for all entries of the streams of all
/// ranks. Where the matrix is symmetric, an entry off the diagonal comes twice, the second time in
/// the row of its mirror image, with ~column in place of the column.
/// Collective. Memory: a few MB. Throws comm_thread::InputError, the same on every rank.
template <class Take>
void collective_deal(const comm_thread::Communicator& communicator, const RowPartition& partition,
                     EntryStream& stream, bool has_values, StreamedMatrix::Symmetry symmetry,
                     const Take& take) {
  using Symmetry = StreamedMatrix::Symmetry;
  MatrixMarketRouter router(communicator, partition);
  const auto keep = [&](const MatrixEntry& entry) {
    if (router.owns(entry.row))
      take(entry);
    else
      router.push(entry);
  };
  constexpr int most_pieces = 16;  // of a round
  std::vector<MatrixEntry> entries;
  comm_thread::collective_attempt(communicator, [&] { stream.rewind(); });
  for (bool has_more = true; has_more;) {
    comm_thread::collective_attempt(communicator, [&] {
      for (int piece = 0; piece < most_pieces && !stream.is_at_end() && !router.is_full();
           ++piece) {
        stream.read(has_values, entries);
        for (const MatrixEntry& entry : entries) {
          keep(entry);
          if (symmetry != Symmetry::general && entry.row != entry.column)
            keep({entry.column, ~entry.row,
                  symmetry == Symmetry::symmetric ? entry.value : -entry.value});
        }
      }
    });
    enum { more, senders };
    std::array<std::int64_t, 2> state{};
    state[more] = !stream.is_at_end();
    state[senders] = !router.is_empty();
    communicator.sum(state);
    if (state[senders] > 0)
      for (const auto& [rank, list] : router.collective_exchange())
        for (const MatrixEntry& entry : list) take(entry);
    has_more = state[more] > 0;
  }
}

/// The rows of this rank. The streams are read twice, and once more for equal numbers of nonzeros
/// per rank; duplicates are added up. Where (i, j) and (j, i) both stand in a symmetric file, they
/// count once if they are equal, which `remarks` gets to know, and are a fault if not.
///
/// Collective. Throws comm_thread::InputError, the same on every rank.
DistributedMatrix collective_read_stream(const comm_thread::Communicator& communicator,
                                         const comm_thread::ComputeTeam& team,
                                         const StreamedMatrix& matrix, EntryStream& stream,
                                         PartitionBy partition, Remarks& remarks);

}  // namespace weft::spmv
