#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace weft::comm_thread {

/// Unit that is assigned to ranks: a core (its usable PUs) or a single PU.
struct CoreUnit {
  unsigned numa_domain = 0;
  std::vector<std::size_t> pus;  // ascending positions in Topology::pus()
};

/// A contiguous run of units.
struct CoreSlice {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};

/// Cuts units, in hardware order, into one slice per rank: NUMA domain by NUMA domain, in
/// proportion to their sizes, so that no slice crosses domains; across them only if a rank would
/// otherwise have fewer units than `threads_wanted` or, with 0 wanted, less than half of an even
/// share.
/// `slice_count`: at most the number of units.
std::vector<CoreSlice> cut_slices(std::span<const CoreUnit> units, std::size_t slice_count,
                                  std::size_t threads_wanted);

}  // namespace weft::comm_thread
