#include "spmv/formats/entry_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "spmv/files/matrix_market_entries.h"
#include "spmv/files/remarks.h"
#include "spmv/texts/entry_stream.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;

constexpr std::int64_t entries_at_once = 1 << 13;

/// This rank's share of the nonzeros of a file, in the file's order.
class EntryShare final : public EntryStream {
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

  void rewind() override {
    place_ = begin_;
    column_ = 0;
    source_.columns.begin_sum(begin_, end_);
    source_.values.begin_sum(begin_, end_);
    if (source_.layout == CsrSource::Layout::entries) source_.rows.begin_sum(begin_, end_);
  }

  bool is_at_end() const override { return place_ == end_; }

  void read(bool has_values, std::vector<MatrixEntry>& entries) override {
    const auto count = static_cast<std::size_t>(std::min(entries_at_once, end_ - place_));
    entries.resize(count);
    numbers_.resize(count);
    values_.assign(count, 1.0);
    const bool is_by_columns = source_.layout == CsrSource::Layout::columns;
    source_.columns.read(place_, numbers_, is_by_columns ? "rows" : "columns");
    if (has_values) source_.values.read(place_, values_, "values");
    if (is_by_columns) {
      for (std::size_t k = 0; k < count; ++k, ++place_) {
        while (offsets_.at[column_ + 1] <= place_ - begin_) ++column_;
        source_.check_row(numbers_[k], place_);
        entries[k] = {numbers_[k], first_column_ + static_cast<GlobalIndex>(column_), values_[k]};
      }
      return;
    }
    rows_.resize(count);
    source_.rows.read(place_, rows_, "rows");
    for (std::size_t k = 0; k < count; ++k) {
      source_.check_row(rows_[k], place_ + static_cast<std::int64_t>(k));
      source_.check_column(numbers_[k], place_ + static_cast<std::int64_t>(k));
      entries[k] = {rows_[k], numbers_[k], values_[k]};
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

}  // namespace

DistributedMatrix collective_read_entries(const Communicator& communicator, const ComputeTeam& team,
                                          const CsrSource& source, PartitionBy partition_by) {
  comm_thread::collective_attempt(communicator, [&] { source.check_sizes(communicator.size()); });
  EntryShare share(communicator, source);
  Remarks none;
  return collective_read_stream(
      communicator, team, {source.name(), source.row_count, StreamedMatrix::Symmetry::general},
      share, partition_by, none);
}

}  // namespace weft::spmv
