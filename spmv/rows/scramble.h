#pragma once

#include <cstdint>

namespace weft::spmv {

/// Other bits for other bits, each of which depends on all of those. Constants: variant 13 of David
/// Stafford.
inline std::uint64_t scramble(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

}  // namespace weft::spmv
