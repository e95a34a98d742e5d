#pragma once

#include <cstddef>

namespace weft::perfmodel {

/// `bytes`, or as many as there are in whole units.
inline std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Huge pages that one step of a set-up leaves to the next: on a virtual machine the first touch of
/// a page costs several times as much as all that is done with it, and took a third of a set-up.
///
///     a unit of 2 MiB     | array | array | free | array ... free |     mapped and unmapped whole
///
/// Arrays share units, from any place in a unit. Units without arrays stay mapped while there is a
/// PageStock, those of a large HugePageBuffer as well, and are taken again by any thread. Values
/// are whatever was there. Pages keep the NUMA domain of their first user, which has about the same
/// rows in each step. Thread: any.
class PageStock {
 public:
  static constexpr std::size_t unit_bytes = std::size_t{2} << 20;
  /// An array begins at a multiple of this.
  static constexpr std::size_t grain_bytes = 4096;

  PageStock();
  ~PageStock();
  PageStock(const PageStock&) = delete;
  PageStock& operator=(const PageStock&) = delete;

  /// Room for `bytes`, a whole number of grains. Throws std::bad_alloc.
  static void* take(std::size_t bytes);
  /// The same bytes as of `take`.
  static void give_back(void* pages, std::size_t bytes);
  /// Unmaps all units without arrays, where nothing that comes will take as much.
  static void unmap_free();
};

}  // namespace weft::perfmodel
