#include "spmv/problems/heisenberg_generator.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <utility>

#include "spmv/problems/combinations.h"

namespace weft::spmv {
namespace {

/// The next larger number with as many bits set, not zero. Source: Gosper, HAKMEM item 175, 1972.
std::uint64_t next_state(std::uint64_t state) {
  if (state == 0) return 0;
  const std::uint64_t lowest = state & (~state + 1);
  const std::uint64_t carried = state + lowest;
  return carried | ((state ^ carried) >> 2 >> std::countr_zero(state));
}

}  // namespace

HeisenbergGenerator::HeisenbergGenerator(const HeisenbergSettings& settings) : settings_(settings) {
  for (int n = 0; n < settings.sites; ++n) {
    table_.emplace_back();
    for (int k = 0; k <= settings.up; ++k) table_.back().push_back(binomial(n, k));
  }
}

HeisenbergGenerator::State HeisenbergGenerator::state_of(GlobalIndex row) const {
  State state = 0;
  int site = settings_.sites - 1;
  for (int k = settings_.up; k > 0; --k, --site) {
    while (combinations(site, k) > row) --site;
    row -= combinations(site, k);
    state |= State{1} << site;
  }
  return state;
}

GlobalIndex HeisenbergGenerator::row_of(State state) const {
  GlobalIndex row = 0;
  for (int k = 1; state != 0; ++k, state &= state - 1)
    row += combinations(std::countr_zero(state), k);
  return row;
}

void HeisenbergGenerator::visit_rows(GlobalIndex begin, GlobalIndex end,
                                     const RowVisitor& visit) const {
  const int sites = settings_.sites;
  std::vector<std::pair<GlobalIndex, double>> entries;
  std::vector<GlobalIndex> columns;
  std::vector<double> values;
  State state = begin < end ? state_of(begin) : 0;
  for (GlobalIndex row = begin; row < end; ++row) {
    if (row > begin) state = next_state(state);
    entries.clear();
    int unlike = 0;
    for (int site = 0; site < sites; ++site) {
      const State bond = State{1} << site | State{1} << (site + 1) % sites;
      if (std::popcount(state & bond) != 1) continue;
      ++unlike;
      entries.emplace_back(row_of(state ^ bond), 0.5);
    }
    entries.emplace_back(row, 0.25 * (sites - 2 * unlike));
    std::sort(entries.begin(), entries.end());
    columns.clear();
    values.clear();
    for (const auto& [column, value] : entries) {
      if (!columns.empty() && columns.back() == column) {
        values.back() += value;
      } else {
        columns.push_back(column);
        values.push_back(value);
      }
    }
    visit(row, std::span(columns), std::span(values));
  }
}

}  // namespace weft::spmv
