#include "spmv/problems/irregular_generator.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "spmv/problems/random_numbers.h"

namespace weft::spmv {
namespace {

/// Rows that are made together: their neighbourhood, one bandwidth on either side, is hashed too.
constexpr GlobalIndex fewest_rows_together = 8192;
constexpr GlobalIndex bandwidths_together = 2;

/// A whole number in [0, count).
GlobalIndex draw(std::uint64_t key, GlobalIndex index, GlobalIndex count) {
  const auto drawn = static_cast<GlobalIndex>(uniform(key, index) * static_cast<double>(count));
  return std::min(drawn, count - 1);
}

/// End of part number `part` of `parts` equal parts of `count` items; count >= parts.
GlobalIndex share_end(GlobalIndex count, GlobalIndex part, GlobalIndex parts) {
  return count / parts * (part + 1) + count % parts * (part + 1) / parts;
}

/// Ascending lists, one per row.
class Lists {
 public:
  std::span<const GlobalIndex> of(std::size_t row) const {
    return std::span(items_).subspan(offsets_[row], offsets_[row + 1] - offsets_[row]);
  }
  void append(std::span<const GlobalIndex> list) {
    items_.insert(items_.end(), list.begin(), list.end());
    offsets_.push_back(items_.size());
  }
  /// `entries`: (row, item), for each row in ascending order of items.
  static Lists sorted_by_row(std::size_t row_count,
                             std::span<const std::pair<std::size_t, GlobalIndex>> entries) {
    Lists lists;
    lists.offsets_.resize(row_count + 2);
    lists.items_.resize(entries.size());
    for (const auto& [row, item] : entries) ++lists.offsets_[row + 2];
    for (std::size_t row = 2; row <= row_count; ++row)
      lists.offsets_[row] += lists.offsets_[row - 1];
    for (const auto& [row, item] : entries) lists.items_[lists.offsets_[row + 1]++] = item;
    return lists;
  }

 private:
  std::vector<std::size_t> offsets_{0};
  std::vector<GlobalIndex> items_;
};

}  // namespace

/// Rows coupled to the rows of a range: those they proposed and those that proposed them.
struct IrregularGenerator::Couplings {
  Lists proposed;
  Lists received;
};

IrregularGenerator::IrregularGenerator(const IrregularSettings& settings) : settings_(settings) {
  settings_.bandwidth = std::min(settings_.bandwidth, settings_.row_count - 1);
}

void IrregularGenerator::propose(GlobalIndex row, std::vector<GlobalIndex>& partners) const {
  const GlobalIndex before = std::min(row, settings_.bandwidth);
  const GlobalIndex after = std::min(settings_.row_count - 1 - row, settings_.bandwidth);
  const GlobalIndex candidates = before + after;
  // An odd number of couplings is shared out by turns: n/2 and n/2 + 1.
  const GlobalIndex wanted = (settings_.nonzeros_per_row - 1 + row % 2) / 2;
  const GlobalIndex count = std::min(wanted, candidates);
  const std::uint64_t key = random_bits(settings_.seed, row);
  partners.clear();
  // One from each of `count` equal parts of the window: different and in order without a search.
  // Floyd's sampling of the whole window made visiting take 0.79 instead of 0.58 µs a row.
  GlobalIndex begin = 0;
  for (GlobalIndex part = 0; part < count; ++part) {
    const GlobalIndex end = share_end(candidates, part, count);
    const GlobalIndex offset = begin + draw(key, part, end - begin);
    partners.push_back(row - before + offset + (offset >= before ? 1 : 0));
    begin = end;
  }
}

IrregularGenerator::Couplings IrregularGenerator::couplings_of(GlobalIndex begin,
                                                               GlobalIndex end) const {
  Lists proposed;
  std::vector<std::pair<std::size_t, GlobalIndex>> received;
  std::vector<GlobalIndex> partners;
  const GlobalIndex first = std::max<GlobalIndex>(0, begin - settings_.bandwidth);
  const GlobalIndex last = end + std::min(settings_.bandwidth, settings_.row_count - end);
  for (GlobalIndex row = first; row < last; ++row) {
    propose(row, partners);
    if (row >= begin && row < end) proposed.append(partners);
    for (const GlobalIndex partner : partners)
      if (partner >= begin && partner < end)
        received.emplace_back(static_cast<std::size_t>(partner - begin), row);
  }
  return {std::move(proposed),
          Lists::sorted_by_row(static_cast<std::size_t>(end - begin), received)};
}

double IrregularGenerator::value(GlobalIndex row, GlobalIndex column) const {
  const auto [low, high] = std::minmax(row, column);
  return -0.1 - 0.9 * uniform(random_bits(~settings_.seed, low), high);
}

void IrregularGenerator::visit_rows(GlobalIndex begin, GlobalIndex end,
                                    const RowVisitor& visit) const {
  const GlobalIndex together =
      settings_.bandwidth > (end - begin) / bandwidths_together
          ? end - begin
          : std::max(fewest_rows_together, bandwidths_together * settings_.bandwidth);
  std::vector<GlobalIndex> columns;
  std::vector<double> values;
  for (GlobalIndex first = begin; first < end; first += together) {
    const GlobalIndex last = first + std::min(together, end - first);
    const Couplings couplings = couplings_of(first, last);
    for (GlobalIndex row = first; row < last; ++row) {
      const auto place = static_cast<std::size_t>(row - first);
      const auto proposed = couplings.proposed.of(place);
      const auto received = couplings.received.of(place);
      columns.clear();
      std::set_union(proposed.begin(), proposed.end(), received.begin(), received.end(),
                     std::back_inserter(columns));
      double diagonal = 1;
      values.clear();
      for (const GlobalIndex column : columns) {
        values.push_back(value(row, column));
        diagonal -= values.back();
      }
      const auto middle = std::lower_bound(columns.begin(), columns.end(), row) - columns.begin();
      columns.insert(columns.begin() + middle, row);
      values.insert(values.begin() + middle, diagonal);
      visit(row, columns, values);
    }
  }
}

}  // namespace weft::spmv
