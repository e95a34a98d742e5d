#include "spmv/matrix/numbered_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace weft::spmv {
namespace {

/// Rows of the sample are about that many; twice as many at most.
constexpr LocalIndex sampled_rows = 1024;

}  // namespace

/// Numbers values in the order in which they come: a hash table with open addressing.
class NumberedValues::Numbering {
 public:
  Numbering() : slots_(slot_count) {}

  /// None where the table is full.
  std::optional<std::uint16_t> number_of(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    std::size_t place = (bits * multiplier) >> (64 - slot_bits);
    for (; slots_[place].is_taken; place = (place + 1) % slot_count)
      if (slots_[place].bits == bits) return slots_[place].number;
    if (values_.size() == most_values) return std::nullopt;
    const auto number = static_cast<std::uint16_t>(values_.size());
    slots_[place] = {bits, number, true};
    values_.push_back(value);
    return number;
  }

  const std::vector<double>& values() const { return values_; }

 private:
  struct Slot {
    std::uint64_t bits = 0;
    std::uint16_t number = 0;
    bool is_taken = false;
  };
  static constexpr int slot_bits = 13;  // twice as many as values
  static constexpr std::size_t slot_count = std::size_t{1} << slot_bits;
  static constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15;  // 2⁶⁴ by the golden section

  std::vector<Slot> slots_;
  std::vector<double> values_;
};

NumberedValues::NumberedValues(const CrsMatrix& rows, LocalIndex begin, LocalIndex end)
    : first_nonzero_(rows.row_offsets[static_cast<std::size_t>(begin)]),
      numbers_(static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(end)] -
                                        first_nonzero_)) {}

std::optional<NumberedValues> NumberedValues::find(const CrsMatrix& rows, LocalIndex begin,
                                                   LocalIndex end) {
  const std::int64_t* const offsets = rows.row_offsets.data();
  if (offsets[end] - offsets[begin] < least_nonzeros) return std::nullopt;
  const LocalIndex step = std::max((end - begin) / sampled_rows, LocalIndex{1});
  Numbering sample;
  double distances = 0;
  double count = 0;
  for (LocalIndex row = begin; row < end; row += std::min(step, end - row))
    for (std::int64_t k = offsets[row]; k < offsets[row + 1]; ++k, ++count) {
      if (!sample.number_of(rows.values[static_cast<std::size_t>(k)])) return std::nullopt;
      distances += std::abs(static_cast<double>(rows.columns[static_cast<std::size_t>(k)]) - row);
    }
  NumberedValues found(rows, begin, end);
  if (!found.store(rows)) return std::nullopt;
  found.mean_distance_ = distances / count;
  return found;
}

bool NumberedValues::store(const CrsMatrix& rows) {
  Numbering numbering;
  const auto first = static_cast<std::size_t>(first_nonzero_);
  for (std::size_t k = 0; k < numbers_.size(); ++k) {
    const auto number = numbering.number_of(rows.values[first + k]);
    if (!number) return false;
    numbers_[k] = *number;
  }
  table_ = numbering.values();
  return true;
}

std::int64_t NumberedValues::bytes() const {
  return static_cast<std::int64_t>(2 * numbers_.size() + 8 * table_.size());
}

}  // namespace weft::spmv
