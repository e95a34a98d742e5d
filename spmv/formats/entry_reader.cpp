#include "spmv/formats/entry_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/files/matrix_market_entries.h"
#include "spmv/files/matrix_market_router.h"
#include "spmv/matrix/assembly.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;

constexpr std::int64_t entries_at_once = 1 << 14;

/// This rank's share of the nonzeros of a file, read in the file's order as often as needed.
class EntryShare {
 public:
  /// Collective. Throws comm_thread::InputError.
  EntryShare(const Communicator& communicator, const CsrSource& source) : source_(source) {
    const bool is_by_columns = source.layout == CsrSource::Layout::columns;
    const auto share =
        comm_thread::share_of(is_by_columns ? source.row_count : source.nonzero_count,
                              communicator.rank(), communicator.size());
    begin_ = share.begin;
    end_ = share.end;
    if (!is_by_columns) return;
    first_column_ = share.begin;
    offsets_ = collective_read_offsets(communicator, source, share.begin, share.end);
    begin_ = offsets_.nonzeros_before;
    end_ = begin_ + offsets_.at[offsets_.at.size() - 1];
  }

  void rewind() {
    place_ = begin_;
    column_ = 0;
    source_.columns.begin_sum(begin_, end_);
    source_.values.begin_sum(begin_, end_);
    if (source_.layout == CsrSource::Layout::entries) source_.rows.begin_sum(begin_, end_);
  }

  bool is_at_end() const { return place_ == end_; }

  /// Calls take(entry) for the next ones; values are 1 unless `has_values`.
  template <class Take>
  void read(bool has_values, const Take& take) {
    const auto count = static_cast<std::size_t>(std::min(entries_at_once, end_ - place_));
    numbers_.resize(count);
    values_.assign(count, 1.0);
    const bool is_by_columns = source_.layout == CsrSource::Layout::columns;
    source_.columns.read(place_, numbers_, is_by_columns ? "rows" : "columns");
    if (has_values) source_.values.read(place_, values_, "values");
    if (is_by_columns) {
      for (std::size_t k = 0; k < count; ++k, ++place_) {
        while (offsets_.at[column_ + 1] <= place_ - begin_) ++column_;
        source_.check_row(numbers_[k], place_);
        take({numbers_[k], first_column_ + static_cast<GlobalIndex>(column_), values_[k]});
      }
      return;
    }
    rows_.resize(count);
    source_.rows.read(place_, rows_, "rows");
    for (std::size_t k = 0; k < count; ++k) {
      source_.check_row(rows_[k], place_ + static_cast<std::int64_t>(k));
      source_.check_column(numbers_[k], place_ + static_cast<std::int64_t>(k));
      take({rows_[k], numbers_[k], values_[k]});
    }
    place_ += static_cast<std::int64_t>(count);
  }

 private:
  const CsrSource& source_;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
  std::int64_t place_ = 0;
  GlobalIndex first_column_ = 0;
  std::size_t column_ = 0;  // of this rank's columns
  RowOffsets offsets_{};
  std::vector<std::int64_t> numbers_;
  std::vector<std::int64_t> rows_;
  std::vector<double> values_;
};

/// Calls take(entry) on the rank that owns the entry's row, for all entries of the file.
template <class Take>
void collective_deal(const Communicator& communicator, const RowPartition& partition,
                     EntryShare& share, bool has_values, const Take& take) {
  MatrixMarketRouter router(communicator, partition);
  const auto keep = [&](const MatrixEntry& entry) {
    if (router.owns(entry.row))
      take(entry);
    else
      router.push(entry);
  };
  constexpr int most_pieces = 16;  // of a round
  share.rewind();
  for (bool has_more = true; has_more;) {
    comm_thread::collective_attempt(communicator, [&] {
      for (int piece = 0; piece < most_pieces && !share.is_at_end() && !router.is_full(); ++piece)
        share.read(has_values, keep);
    });
    enum { more, senders };
    std::array<std::int64_t, 2> state{};
    state[more] = !share.is_at_end();
    state[senders] = !router.is_empty();
    communicator.sum(state);
    if (state[senders] > 0)
      for (const auto& [rank, bytes] : router.collective_exchange())
        for (const MatrixEntry& entry : comm_thread::from_bytes<MatrixEntry>(bytes)) take(entry);
    has_more = state[more] > 0;
  }
}

RowPartition collective_partition_entries(const Communicator& communicator, EntryShare& share,
                                          GlobalIndex rows, PartitionBy by) {
  RowPartition partition = RowPartition::by_rows(rows, communicator.size());
  if (by == PartitionBy::rows || communicator.size() == 1) return partition;
  std::vector<GlobalIndex> nonzeros(static_cast<std::size_t>(RowPartition::block_count(rows)));
  const GlobalIndex block_size = RowPartition::block_size(rows);
  share.rewind();
  comm_thread::collective_attempt(communicator, [&] {
    while (!share.is_at_end())
      share.read(false, [&](const MatrixEntry& entry) {
        ++nonzeros[static_cast<std::size_t>(entry.row / block_size)];
      });
  });
  communicator.sum(nonzeros);
  return RowPartition::by_nonzeros(rows, communicator.size(), nonzeros);
}

}  // namespace

DistributedMatrix collective_read_entries(const Communicator& communicator, const ComputeTeam& team,
                                          const CsrSource& source, PartitionBy partition_by) {
  comm_thread::collective_attempt(communicator, [&] { source.check_sizes(communicator.size()); });
  EntryShare share(communicator, source);
  RowPartition partition =
      collective_partition_entries(communicator, share, source.row_count, partition_by);
  const auto attempt = [&](const std::function<void()>& work) {
    collective_attempt_to_store(communicator, source, work);
  };
  std::optional<MatrixAssembly> assembly;
  attempt([&] { assembly.emplace(partition, communicator.rank()); });
  collective_deal(communicator, partition, share, false,
                  [&](const MatrixEntry& entry) { assembly->count(entry.row, entry.column); });
  attempt([&] { assembly->allocate(team); });
  collective_deal(communicator, partition, share, true, [&](const MatrixEntry& entry) {
    assembly->insert(entry.row, entry.column, entry.value);
  });
  return std::move(*assembly).collective_finish(communicator, team);
}

}  // namespace weft::spmv
