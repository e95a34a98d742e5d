#include "solver/amg/coarsening/page_stock.h"

#include <iterator>
#include <map>
#include <mutex>

#include "perfmodel/huge_page_buffer.h"

namespace weft::solver::amg {
namespace {

/// What all stocks share.
struct FreePages {
  std::mutex mutex;
  int stock_count = 0;
  std::map<std::byte*, std::size_t> regions;  // their bytes; no two touch each other
};

FreePages& free_pages() {
  static FreePages pages;
  return pages;
}

std::size_t whole_units(std::size_t bytes) {
  return (bytes + PageStock::unit_bytes - 1) / PageStock::unit_bytes * PageStock::unit_bytes;
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
  if (--pages.stock_count > 0) return;
  for (const auto& [begin, bytes] : pages.regions) perfmodel::unmap_pages(begin, bytes);
  pages.regions.clear();
}

void* PageStock::take(std::size_t bytes) {
  const std::size_t wanted = whole_units(bytes);
  FreePages& pages = free_pages();
  const std::lock_guard lock(pages.mutex);
  auto best = pages.regions.end();
  for (auto region = pages.regions.begin(); region != pages.regions.end(); ++region)
    if (region->second >= wanted && (best == pages.regions.end() || region->second < best->second))
      best = region;
  if (best == pages.regions.end()) return perfmodel::map_pages(wanted);
  std::byte* const begin = best->first;
  const std::size_t rest = best->second - wanted;
  pages.regions.erase(best);
  if (rest > 0) pages.regions.emplace(begin + wanted, rest);
  return begin;
}

void PageStock::give_back(void* taken, std::size_t bytes) {
  std::byte* begin = static_cast<std::byte*>(taken);
  std::size_t size = whole_units(bytes);
  FreePages& pages = free_pages();
  const std::lock_guard lock(pages.mutex);
  if (pages.stock_count == 0) return perfmodel::unmap_pages(begin, size);
  auto next = pages.regions.lower_bound(begin);
  if (next != pages.regions.end() && next->first == begin + size) {
    size += next->second;
    next = pages.regions.erase(next);
  }
  if (next != pages.regions.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      before->second += size;
      return;
    }
  }
  pages.regions.emplace(begin, size);
}

}  // namespace weft::solver::amg
