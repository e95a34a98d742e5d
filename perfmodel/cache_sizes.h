#pragma once

#include <cstddef>
#include <optional>

namespace weft::perfmodel {

/// One data cache of a hardware thread.
struct CacheLevel {
  std::size_t bytes = 0;
  int sharing_pus = 1;  // hardware threads that have it in common
};

/// The data cache of `level` (1, 2, 3) of the hardware thread `pu`, by the operating system's
/// number for it; nothing where there is none, or where the system does not tell.
std::optional<CacheLevel> cache_of(unsigned pu, int level);

/// The last of them; what memory kernels have to exceed. 1 MiB where nothing is known.
CacheLevel last_cache_of(unsigned pu);

}  // namespace weft::perfmodel
