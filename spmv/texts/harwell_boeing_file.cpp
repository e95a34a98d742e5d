#include "spmv/texts/harwell_boeing_file.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "spmv/texts/entry_stream.h"
#include "spmv/texts/fixed_numbers.h"
#include "spmv/texts/harwell_boeing_sections.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::InputError;
using Values = HarwellBoeingHeader::Values;
using Symmetry = HarwellBoeingHeader::Symmetry;

/// The columns of this rank's share.
class ColumnShare final : public EntryStream {
 public:
  /// Throws comm_thread::InputError.
  ColumnShare(const Communicator& communicator, const std::string& path,
              const HarwellBoeingSections& file)
      : file_(file), rows_(path, file.indices) {
    if (file.values.count > 0) values_.emplace(path, file.values);
    const auto share =
        comm_thread::share_of(file.header.column_count, communicator.rank(), communicator.size());
    first_column_ = share.begin;
    read_pointers(path, share.begin, share.end);
  }

  void rewind() override {
    place_ = pointers_.front();
    column_ = 0;
    rows_.start(place_);
    has_started_values_ = false;
  }

  bool is_at_end() const override { return place_ == pointers_.back(); }

  void read(bool has_values, std::vector<MatrixEntry>& entries) override {
    constexpr std::int64_t most = 1 << 13;
    const auto count = static_cast<std::size_t>(std::min(most, pointers_.back() - place_));
    numbers_.resize(count);
    entries.resize(count);
    rows_.read(numbers_);
    parts_.assign(count, 1.0);
    if (has_values && values_) read_values(count);
    for (std::size_t k = 0; k < count; ++k, ++place_) {
      while (pointers_[column_ + 1] <= place_) ++column_;
      const MatrixEntry entry{numbers_[k] - 1, first_column_ + static_cast<GlobalIndex>(column_),
                              parts_[k]};
      check(entry, has_values);
      entries[k] = entry;
    }
  }

 private:
  /// Where the columns [begin, end) begin, and where the last one ends, from 0.
  void read_pointers(const std::string& path, GlobalIndex begin, GlobalIndex end) {
    pointers_.assign(static_cast<std::size_t>(end - begin + 1), 0);
    if (begin == end) return;
    FixedNumbers numbers(path, file_.pointers);
    numbers.start(begin);
    numbers.read(pointers_);
    const std::int64_t last = file_.header.entry_count;
    std::int64_t before = 1;
    for (std::size_t i = 0; i < pointers_.size(); ++i) {
      const GlobalIndex column = begin + static_cast<GlobalIndex>(i);
      const std::int64_t pointer = pointers_[i];
      if (column == 0 && pointer != 1)
        numbers.fail(column, "found " + std::to_string(pointer) +
                                 " as the first pointer; expected 1, because entries are counted "
                                 "from 1");
      if (column == file_.header.column_count && pointer != last + 1)
        numbers.fail(column, "found " + std::to_string(pointer) +
                                 " as the last pointer; expected " + std::to_string(last + 1) +
                                 ", because the header announces " + std::to_string(last) +
                                 " entries");
      if (pointer < before || pointer > last + 1)
        numbers.fail(column, "found the pointer " + std::to_string(pointer) + " behind " +
                                 std::to_string(before) + "; expected pointers that ascend to " +
                                 std::to_string(last + 1));
      before = pointer;
    }
    for (std::int64_t& pointer : pointers_) --pointer;
  }

  /// Replaces `parts_`.
  void read_values(std::size_t count) {
    const bool is_complex = file_.header.values == Values::complex;
    const std::int64_t parts = is_complex ? 2 : 1;
    if (!has_started_values_) values_->start(parts * place_);
    has_started_values_ = true;
    parts_.resize(count * static_cast<std::size_t>(parts));
    values_->read(parts_);
    if (!is_complex) return;
    for (std::size_t k = 0; k < count; ++k) {
      if (parts_[2 * k + 1] != 0)
        values_->fail(2 * (place_ + static_cast<std::int64_t>(k)) + 1,
                      "found a complex number whose imaginary part is not 0; expected 0, because "
                      "only real systems are solved");
      parts_[k] = parts_[2 * k];
    }
  }

  void check(const MatrixEntry& entry, bool has_values) const {
    if (entry.row < 0 || entry.row >= file_.header.row_count)
      rows_.fail(place_, "found " + std::to_string(entry.row + 1) +
                             " as row; expected a whole number from 1 to " +
                             std::to_string(file_.header.row_count));
    if (has_values && file_.header.symmetry == Symmetry::skew_symmetric &&
        entry.row == entry.column && entry.value != 0)
      rows_.fail(place_, "found row " + std::to_string(entry.row + 1) + " in column " +
                             std::to_string(entry.column + 1) +
                             "; expected nothing but 0 on the diagonal of a skew-symmetric matrix");
  }

  const HarwellBoeingSections& file_;
  FixedNumbers rows_;
  std::optional<FixedNumbers> values_;
  GlobalIndex first_column_ = 0;
  std::vector<std::int64_t> pointers_;
  std::int64_t place_ = 0;  // entry, from 0
  std::size_t column_ = 0;  // of this rank's columns
  bool has_started_values_ = false;
  std::vector<std::int64_t> numbers_;
  std::vector<double> parts_;
};

}  // namespace

HarwellBoeingSize collective_harwell_boeing_size(const Communicator& communicator,
                                                 const std::string& path) {
  const HarwellBoeingSections file = collective_find_sections(communicator, path);
  const std::int64_t entries = file.header.entry_count;
  const bool is_half = file.header.symmetry != Symmetry::general;
  return {file.header.row_count,
          is_half ? 2 * entries - std::min(entries, file.header.row_count) : entries};
}

DistributedMatrix collective_read_harwell_boeing(const Communicator& communicator,
                                                 const comm_thread::ComputeTeam& team,
                                                 const std::string& path, PartitionBy partition,
                                                 Remarks& remarks) {
  const HarwellBoeingSections file = collective_find_sections(communicator, path);
  std::optional<ColumnShare> share;
  comm_thread::collective_attempt(communicator, [&] { share.emplace(communicator, path, file); });
  const StreamedMatrix matrix{path, file.header.row_count, file.header.symmetry};
  DistributedMatrix rows =
      collective_read_stream(communicator, team, matrix, *share, partition, remarks);
  for (std::string& remark : file.remarks(path)) remarks.push_back(std::move(remark));
  return rows;
}

std::vector<double> collective_read_harwell_boeing_vector(const Communicator& communicator,
                                                          const RowPartition& partition,
                                                          const std::string& path) {
  const HarwellBoeingSections file = collective_find_sections(communicator, path);
  const std::int64_t count = file.header.right_hand_side_count;
  const std::string found = count == 0  ? "no right-hand side"
                            : count > 1 ? std::to_string(count) + " right-hand sides"
                            : !file.header.has_whole_right_hand_sides ? "a sparse right-hand side"
                            : file.right_hand_sides.count == 0
                                ? "a right-hand side without a format"
                                : "";
  if (!found.empty())
    throw InputError(path + ": found " + found +
                     "; expected the numbers of one right-hand side behind the matrix, or a "
                     "vector in a file of its own: scipy.io.mmwrite(\"b.mtx\", b)");
  if (file.header.row_count != partition.row_count())
    throw InputError(path + ": found a vector of length " + std::to_string(file.header.row_count) +
                     "; expected length " + std::to_string(partition.row_count()));
  std::vector<double> own(static_cast<std::size_t>(partition.size(communicator.rank())));
  comm_thread::collective_attempt(communicator, [&] {
    if (own.empty()) return;
    FixedNumbers numbers(path, file.right_hand_sides);
    numbers.start(partition.begin(communicator.rank()));
    numbers.read(std::span(own));
  });
  return own;
}

}  // namespace weft::spmv
