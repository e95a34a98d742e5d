#include "perfmodel/simd.h"

#include <array>
#include <cstdlib>
#include <numeric>
#include <string>

#include <catch2/catch.hpp>

#include "perfmodel/transpose.h"

namespace weft::perfmodel {
namespace {

std::array<double, 8> numbers(double first) {
  std::array<double, 8> values{};
  std::iota(values.begin(), values.end(), first);
  return values;
}

template <class Lanes>
std::array<double, 8> stored(const Lanes& lanes) {
  std::array<double, 8> values{};
  lanes.store(values.data());
  return values;
}

TEMPLATE_TEST_CASE("operations work lane by lane in registers of any size", "", SimdOf<16>,
                   SimdOf<32>, SimdOf<64>) {
  using Lane8 = typename TestType::Lane8;
  const std::array<double, 8> a = numbers(1);
  const std::array<double, 8> b = numbers(-3);
  const Lane8 x = Lane8::load(a.data());
  const Lane8 y = Lane8::load(b.data());
  const auto chosen = stored(select(x > -2 * y, x + y, x * y - 1));
  const auto gathered =
      stored(x.times_each([&](int lane) { return b[7 - static_cast<std::size_t>(lane)]; }));
  const auto before = stored(Lane8::one_before(x, y));
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(chosen[i] == (a[i] > -2 * b[i] ? a[i] + b[i] : a[i] * b[i] - 1));
    CHECK(gathered[i] == a[i] * b[7 - i]);
    CHECK(before[i] == (i == 0 ? a[7] : b[i - 1]));
    CHECK(x[static_cast<int>(i)] == a[i]);
  }
  CHECK(x.sum() == 36);
  std::array<float, 8> narrow{};
  x.store_converted(narrow.data());
  CHECK(narrow[6] == 7.0F);
  CHECK(stored(Lane8::load_converted(narrow.data())) == a);
  CHECK(
      stored((x.template bits_as<unsigned long long>() >> 1 << 1).template bits_as<double>())[1] ==
      2.0);
}

TEMPLATE_TEST_CASE("a square of lanes is transposed in registers of any size", "", SimdOf<16>,
                   SimdOf<32>, SimdOf<64>) {
  using Lane8 = typename TestType::Lane8;
  std::array<Lane8, 8> rows{};
  for (std::size_t i = 0; i < 8; ++i)
    rows[i] = Lane8::load(numbers(10.0 * static_cast<double>(i)).data());
  transpose(rows);
  for (std::size_t i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) CHECK(rows[i][j] == 10.0 * j + static_cast<double>(i));
}

TEMPLATE_TEST_CASE("elements before are those of the array, over lanes and single ones", "",
                   SimdOf<16>, SimdOf<32>, SimdOf<64>) {
  const std::array<double, 8> a = numbers(1);
  ElementBefore<typename TestType::Lane8> last(0.5);
  CHECK(stored(last.step(TestType::Lane8::load(a.data()))) ==
        std::array<double, 8>{0.5, 1, 2, 3, 4, 5, 6, 7});
  CHECK(last.step(9.0) == 8);
  CHECK(last.step(10.0) == 9);
}

TEST_CASE("a body runs with the registers of the level that is said") {
  int bytes = 0;
  on_widest_simd([&]<class Simd>()
                     __attribute__((always_inline)) { bytes = Simd::register_bytes; });
  const std::string level = name(simd_level());
  CHECK(bytes == (level == "AVX-512" ? 64 : level == "AVX2" ? 32 : 16));
}

TEST_CASE("a word for the instruction set that cannot be heeded is a fault with what is expected") {
  const char* const before = std::getenv("WEFT_INSTRUCTION_SET");
  const std::string kept = before ? before : "";
  setenv("WEFT_INSTRUCTION_SET", "avx3", 1);
  CHECK(instruction_set_fault() ==
        "WEFT_INSTRUCTION_SET: found 'avx3'; expected avx512, avx2 or sse2");
  setenv("WEFT_INSTRUCTION_SET", "sse2", 1);
  CHECK_FALSE(instruction_set_fault());
  if (before)
    setenv("WEFT_INSTRUCTION_SET", kept.c_str(), 1);
  else
    unsetenv("WEFT_INSTRUCTION_SET");
  CHECK_FALSE(instruction_set_fault());
}

}  // namespace
}  // namespace weft::perfmodel
