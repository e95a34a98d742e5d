#pragma once

#include <cstddef>
#include <optional>

namespace weft::perfmodel {

/// One data cache of a hardware thread.
struct CacheLevel {
  std::size_t bytes = 0;
  int sharing_pus = 1;  // hardware threads that share it
};

/// Data cache of `level` (1, 2, 3) of the hardware thread with the operating system's number `pu`;
/// empty if it does not exist or the system does not report it.
std::optional<CacheLevel> cache_of(unsigned pu, int level);

/// Data cache of the highest level, which the data of a memory benchmark must exceed; 1 MiB if
/// unknown.
CacheLevel last_cache_of(unsigned pu);

}  // namespace weft::perfmodel
