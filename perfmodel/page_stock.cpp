#include "perfmodel/page_stock.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

#include "perfmodel/huge_page_buffer.h"

namespace weft::perfmodel {
namespace {

/// What all stocks share.
struct FreePages {
  using Regions = std::map<std::byte*, std::size_t>;  // their bytes; no two touch each other

  /// Adds a region, joined with those that it touches.
  Regions::iterator add(std::byte* begin, std::size_t bytes) {
    auto next = regions.lower_bound(begin);
    if (next != regions.end() && next->first == begin + bytes) {
      bytes += next->second;
      next = regions.erase(next);
    }
    if (next != regions.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == begin) {
        before->second += bytes;
        return before;
      }
    }
    return regions.emplace_hint(next, begin, bytes);
  }

  /// Unmaps the units that lie in a region as a whole; returns the region after it.
  Regions::iterator unmap_units(Regions::iterator region) {
    const auto [begin, bytes] = *region;
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const std::size_t lead = round_up(address, PageStock::unit_bytes) - address;
    if (lead + PageStock::unit_bytes > bytes) return std::next(region);
    const std::size_t whole = (bytes - lead) / PageStock::unit_bytes * PageStock::unit_bytes;
    perfmodel::unmap_pages(begin + lead, whole);
    const auto next = regions.erase(region);
    if (lead > 0) regions.emplace_hint(next, begin, lead);
    if (lead + whole < bytes)
      regions.emplace_hint(next, begin + lead + whole, bytes - lead - whole);
    return next;
  }

  std::mutex mutex;
  void unmap_all() {
    for (auto region = regions.begin(); region != regions.end();) region = unmap_units(region);
  }

  int stock_count = 0;
  Regions regions;
};

/// Never destroyed: arrays of static lifetime are given back later.
FreePages& free_pages() {
  static FreePages* const pages = new FreePages;
  return *pages;
}

}  // namespace

PageStock::PageStock() {
  FreePages& pages = free_pages();
  const std::lock_guard lock(pages.mutex);
  ++pages.stock_count;
}

PageStock::~PageStock() {
  FreePages& pages = free_pages();
  const std::lock_guard lock(pages.mutex);
  if (--pages.stock_count == 0) pages.unmap_all();
}

void PageStock::unmap_free() {
  FreePages& pages = free_pages();
  const std::lock_guard lock(pages.mutex);
  pages.unmap_all();
}

void* PageStock::take(std::size_t bytes) {
  const std::size_t wanted = round_up(bytes, grain_bytes);
  FreePages& pages = free_pages();
  const std::lock_guard lock(pages.mutex);
  auto best = pages.regions.end();
  for (auto region = pages.regions.begin(); region != pages.regions.end(); ++region)
    if (region->second >= wanted && (best == pages.regions.end() || region->second < best->second))
      best = region;
  if (best == pages.regions.end()) {
    const std::size_t mapped = round_up(wanted, unit_bytes);
    auto* const begin = static_cast<std::byte*>(perfmodel::map_pages(mapped));
    if (mapped > wanted) pages.add(begin + wanted, mapped - wanted);
    return begin;
  }
  const auto [begin, size] = *best;
  const auto next = pages.regions.erase(best);
  if (size > wanted) pages.regions.emplace_hint(next, begin + wanted, size - wanted);
  return begin;
}

void PageStock::give_back(void* taken, std::size_t bytes) {
  FreePages& pages = free_pages();
  const std::lock_guard lock(pages.mutex);
  const auto region = pages.add(static_cast<std::byte*>(taken), round_up(bytes, grain_bytes));
  if (pages.stock_count == 0) pages.unmap_units(region);
}

}  // namespace weft::perfmodel
