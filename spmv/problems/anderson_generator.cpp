#include "spmv/problems/anderson_generator.h"

#include <algorithm>
#include <array>
#include <utility>

#include "spmv/problems/random_numbers.h"

namespace weft::spmv {
namespace {

GlobalIndex next(GlobalIndex coordinate, GlobalIndex size) {
  return coordinate + 1 == size ? 0 : coordinate + 1;
}

GlobalIndex previous(GlobalIndex coordinate, GlobalIndex size) {
  return coordinate == 0 ? size - 1 : coordinate - 1;
}

}  // namespace

void AndersonGenerator::visit_rows(GlobalIndex begin, GlobalIndex end,
                                   const RowVisitor& visit) const {
  const auto row_of = [&](GlobalIndex x, GlobalIndex y, GlobalIndex z) {
    return x + grid_.x * (y + grid_.y * z);
  };
  std::array<std::pair<GlobalIndex, double>, 7> entries;
  std::array<GlobalIndex, 7> columns;
  std::array<double, 7> values;
  for (GlobalIndex row = begin; row < end; ++row) {
    const GlobalIndex x = row % grid_.x;
    const GlobalIndex y = row / grid_.x % grid_.y;
    const GlobalIndex z = row / grid_.x / grid_.y;
    entries = {{{row_of(x, y, previous(z, grid_.z)), -1.0},
                {row_of(x, previous(y, grid_.y), z), -1.0},
                {row_of(previous(x, grid_.x), y, z), -1.0},
                {row, settings_.width * (uniform(settings_.seed, row) - 0.5)},
                {row_of(next(x, grid_.x), y, z), -1.0},
                {row_of(x, next(y, grid_.y), z), -1.0},
                {row_of(x, y, next(z, grid_.z)), -1.0}}};
    // In order but where a neighbour is beyond an end; equal columns stay in theirs.
    const auto is_less = [](const auto& a, const auto& b) { return a.first < b.first; };
    for (auto entry = entries.begin() + 1; entry != entries.end(); ++entry)
      std::rotate(std::upper_bound(entries.begin(), entry, *entry, is_less), entry, entry + 1);
    std::size_t count = 0;
    for (const auto& [column, value] : entries) {
      if (count > 0 && columns[count - 1] == column) {
        values[count - 1] += value;
      } else {
        columns[count] = column;
        values[count++] = value;
      }
    }
    visit(row, std::span(columns).first(count), std::span(values).first(count));
  }
}

}  // namespace weft::spmv
