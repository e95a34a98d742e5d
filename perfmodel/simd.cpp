#include "perfmodel/simd.h"

#include <array>
#include <cstdlib>

namespace weft::perfmodel {
namespace {

struct InstructionSet {
  const char* word;
  SimdLevel level;
};
constexpr std::array instruction_sets{InstructionSet{"avx512", SimdLevel::avx512},
                                      InstructionSet{"avx2", SimdLevel::avx2},
                                      InstructionSet{"sse2", SimdLevel::baseline}};

SimdLevel widest_level() {
#if defined(WEFT_CHOOSES_INSTRUCTION_SET)
  if (__builtin_cpu_supports("x86-64-v4")) return SimdLevel::avx512;
  if (__builtin_cpu_supports("x86-64-v3")) return SimdLevel::avx2;
#endif
  return SimdLevel::baseline;
}

/// The level that the environment names, or an empty one with the reason in `fault`.
std::optional<SimdLevel> wanted_level(std::string& fault) {
  const char* const word = std::getenv("WEFT_INSTRUCTION_SET");
  if (!word || !*word) return std::nullopt;
  for (const InstructionSet& set : instruction_sets) {
    if (std::string(word) != set.word) continue;
    if (set.level <= widest_level()) return set.level;
    fault = std::string("WEFT_INSTRUCTION_SET: found ") + word + "; this " +
            "processor and this build go up to " + name(widest_level());
    return std::nullopt;
  }
  fault = std::string("WEFT_INSTRUCTION_SET: found '") + word + "'; expected avx512, avx2 or sse2";
  return std::nullopt;
}

}  // namespace

SimdLevel simd_level() {
  static const SimdLevel level = [] {
    std::string fault;
    return wanted_level(fault).value_or(widest_level());
  }();
  return level;
}

std::optional<std::string> instruction_set_fault() {
  std::string fault;
  wanted_level(fault);
  return fault.empty() ? std::nullopt : std::optional(fault);
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
  constexpr int bytes = BaselineSimd::register_bytes;
  return bytes == 64 ? "AVX-512" : bytes == 32 ? "AVX2" : "SSE2";
}

}  // namespace weft::perfmodel
