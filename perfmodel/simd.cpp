#include "perfmodel/simd.h"

namespace weft::perfmodel {
namespace {

SimdLevel detect() {
#if defined(WEFT_CHOOSES_INSTRUCTION_SET)
  if (__builtin_cpu_supports("x86-64-v4")) return SimdLevel::avx512;
  if (__builtin_cpu_supports("x86-64-v3")) return SimdLevel::avx2;
#endif
  return SimdLevel::baseline;
}

}  // namespace

SimdLevel simd_level() {
  static const SimdLevel level = detect();
  return level;
}

const char* name(SimdLevel level) {
  switch (level) {
    case SimdLevel::avx512:
      return "AVX-512";
    case SimdLevel::avx2:
      return "AVX2";
    case SimdLevel::baseline:
      break;
  }
  return "baseline";
}

}  // namespace weft::perfmodel
