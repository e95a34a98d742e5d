#include "perfmodel/huge_page_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "perfmodel/page_stock.h"

namespace weft::perfmodel {
namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
constexpr std::size_t page_bytes = 4096;

/// From the place of an array in a page to that of the next one: 25 of 64 cache lines, the golden
/// section, so that any few successive arrays are far apart.
constexpr std::size_t place_step = 25 * std::size_t{64};

/// MADV_COLLAPSE of Linux 6.1, which the C library of Debian 12 does not name.
constexpr int collapse = 25;

void* map(std::size_t bytes) {
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return pages;
}

}  // namespace

void* map_pages(std::size_t bytes) {
  if (bytes < huge_page_bytes) return map(bytes);
  // Map one huge page more than needed and unmap the excess on either side.
  const std::size_t wanted = round_up(bytes, huge_page_bytes);
  auto* const start = static_cast<std::byte*>(map(wanted + huge_page_bytes));
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::size_t lead = round_up(address, huge_page_bytes) - address;
  if (lead > 0) munmap(start, lead);
  if (lead < huge_page_bytes) munmap(start + lead + wanted, huge_page_bytes - lead);
  // Small pages where less than a quarter of the last huge one is in use: clearing it takes longer.
  madvise(start + lead, round_up(bytes - huge_page_bytes / 4, huge_page_bytes), MADV_HUGEPAGE);
  return start + lead;
}

double bytes_of_pages(double begin, double end, double size) {
  constexpr double small_page = 4 << 10;
  constexpr double huge_page = 2 << 20;
  // Those in front; the rest of the last one is small pages where it is less than a quarter.
  const double huge_bytes =
      size < huge_page ? 0 : huge_page * std::ceil((size - huge_page / 4) / huge_page);
  const auto whole = [](double page, double from, double to) {
    return from < to ? page * (std::ceil(to / page) - std::floor(from / page)) : 0;
  };
  return whole(huge_page, begin, std::min(end, huge_bytes)) +
         whole(small_page, std::max(begin, huge_bytes), end);
}

void prefer_huge_pages(const void* begin, const void* end) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::size_t lead = round_up(address, huge_page_bytes) - address;
  const auto last = reinterpret_cast<std::uintptr_t>(end);
  if (last < address + lead + huge_page_bytes) return;
  void* const pages = static_cast<std::byte*>(const_cast<void*>(begin)) + lead;
  madvise(pages, last - address - lead, MADV_HUGEPAGE);
  madvise(pages, last - address - lead, collapse);
}

void unmap_pages(void* pages, std::size_t bytes) {
  munmap(pages, bytes < huge_page_bytes ? bytes : round_up(bytes, huge_page_bytes));
}

void* map_array(std::size_t bytes) {
  static std::atomic<std::size_t> count{0};
  const std::size_t place = count.fetch_add(1, std::memory_order_relaxed) * place_step % page_bytes;
  const std::size_t all = place + bytes;
  if (all >= huge_page_bytes) return static_cast<std::byte*>(map_pages(all)) + place;
  void* const pages = std::aligned_alloc(page_bytes, round_up(all, page_bytes));
  if (!pages) throw std::bad_alloc();
  return std::memset(static_cast<std::byte*>(pages) + place, 0, bytes);
}

void unmap_array(void* array, std::size_t bytes) {
  const std::size_t place = reinterpret_cast<std::uintptr_t>(array) % page_bytes;
  void* const pages = static_cast<std::byte*>(array) - place;
  if (place + bytes >= huge_page_bytes)
    PageStock::give_back(pages, round_up(place + bytes, huge_page_bytes));
  else
    std::free(pages);
}

}  // namespace weft::perfmodel
