#include "comm_thread/placement/core_slices.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

namespace weft::comm_thread {
namespace {

/// Cuts `count` units, starting at unit `begin`, into slices whose sizes differ by at most one.
std::vector<CoreSlice> even_slices(std::size_t begin, std::size_t count, std::size_t slice_count) {
  std::vector<CoreSlice> slices;
  for (std::size_t i = 0; i < slice_count; ++i)
    slices.push_back({begin + i * count / slice_count, begin + (i + 1) * count / slice_count});
  return slices;
}

std::vector<CoreSlice> find_domains(std::span<const CoreUnit> units) {
  std::vector<CoreSlice> domains;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (i == 0 || units[i].numa_domain != units[i - 1].numa_domain) domains.push_back({i, i});
    domains.back().end = i + 1;
  }
  return domains;
}

/// Number of the `slice_count` slices in each domain: in proportion to its units, the largest
/// remainders rounded up.
std::vector<std::size_t> slices_per_domain(std::span<const CoreSlice> domains,
                                           std::size_t unit_count, std::size_t slice_count) {
  std::vector<std::size_t> counts;
  for (const CoreSlice& domain : domains)
    counts.push_back(domain.size() * slice_count / unit_count);
  std::vector<std::size_t> order(domains.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto remainder = [&](std::size_t domain) {
    return domains[domain].size() * slice_count % unit_count;
  };
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return remainder(a) != remainder(b) ? remainder(a) > remainder(b) : a < b;
  });
  const std::size_t dealt = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  for (std::size_t i = 0; i < slice_count - dealt; ++i) ++counts[order[i]];
  return counts;
}

/// Slices that do not cross domains or, with fewer slices than domains, consist of whole domains.
std::vector<CoreSlice> slices_along_domains(std::span<const CoreUnit> units,
                                            std::size_t slice_count) {
  const std::vector<CoreSlice> domains = find_domains(units);
  std::vector<CoreSlice> slices;
  if (slice_count < domains.size()) {
    for (const CoreSlice& run : even_slices(0, domains.size(), slice_count))
      slices.push_back({domains[run.begin].begin, domains[run.end - 1].end});
    return slices;
  }
  const std::vector<std::size_t> counts = slices_per_domain(domains, units.size(), slice_count);
  for (std::size_t d = 0; d < domains.size(); ++d)
    std::ranges::copy(even_slices(domains[d].begin, domains[d].size(), counts[d]),
                      std::back_inserter(slices));
  return slices;
}

std::size_t smallest(const std::vector<CoreSlice>& slices) {
  return std::ranges::min(slices, {}, &CoreSlice::size).size();
}

}  // namespace

std::vector<CoreSlice> cut_slices(std::span<const CoreUnit> units, std::size_t slice_count,
                                  std::size_t threads_wanted) {
  const std::vector<CoreSlice> along = slices_along_domains(units, slice_count);
  const std::vector<CoreSlice> even = even_slices(0, units.size(), slice_count);
  const bool along_suffices = threads_wanted > 0
                                  ? smallest(along) >= std::min(threads_wanted, smallest(even))
                                  : 2 * smallest(along) >= smallest(even);
  return along_suffices ? along : even;
}

}  // namespace weft::comm_thread
