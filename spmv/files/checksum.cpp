#include "spmv/files/checksum.h"

#include <isa-l/crc.h>

namespace weft::spmv {
namespace {

#if defined(__x86_64__)
[[gnu::target("avx")]] void zero_upper_halves() { __builtin_ia32_vzeroupper(); }
#endif

}  // namespace

std::uint32_t checksum_of(std::uint32_t before, std::span<const std::byte> bytes) {
  const std::uint32_t sum =
      crc32_gzip_refl(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  release_wide_registers();
  return sum;
}

void release_wide_registers() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) zero_upper_halves();
#endif
}

}  // namespace weft::spmv
