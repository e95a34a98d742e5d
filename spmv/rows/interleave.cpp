#include "spmv/rows/interleave.h"

#include "perfmodel/simd.h"

namespace weft::spmv {
namespace {

using perfmodel::Lane8;
using perfmodel::lanes;

/// Exchanges rows and columns of 8 × 8 entries: pairs, then fours, then halves.
[[gnu::always_inline]] inline void transpose(Lane8 (&rows)[8]) {
  for (int i = 0; i < 8; i += 2) {
    const Lane8 a = rows[i];
    const Lane8 b = rows[i + 1];
    rows[i] = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
    rows[i + 1] = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < 8; i += (i & 1) ? 3 : 1) {  // 0, 1, 4, 5
    const Lane8 a = rows[i];
    const Lane8 b = rows[i + 2];
    rows[i] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
    rows[i + 2] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    const Lane8 a = rows[i];
    const Lane8 b = rows[i + 4];
    rows[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    rows[i + 4] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

}  // namespace

void interleave(std::span<const double* const> vectors, std::size_t count, double* block) {
  const std::size_t width = vectors.size();
  std::size_t begin = 0;
  if (width == 8) {
    perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
      for (; begin + 8 <= count; begin += 8) {
        Lane8 rows[8] = {};
        for (std::size_t v = 0; v < 8; ++v) rows[v] = lanes(vectors[v] + begin).value;
        transpose(rows);
        for (std::size_t i = 0; i < 8; ++i) lanes(block + (begin + i) * 8).value = rows[i];
      }
    });
  }
  for (std::size_t i = begin; i < count; ++i)
    for (std::size_t v = 0; v < width; ++v) block[i * width + v] = vectors[v][i];
}

void separate(const double* block, std::size_t count, std::span<double* const> vectors) {
  const std::size_t width = vectors.size();
  std::size_t begin = 0;
  if (width == 8) {
    perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
      for (; begin + 8 <= count; begin += 8) {
        Lane8 rows[8] = {};
        for (std::size_t i = 0; i < 8; ++i) rows[i] = lanes(block + (begin + i) * 8).value;
        transpose(rows);
        for (std::size_t v = 0; v < 8; ++v) lanes(vectors[v] + begin).value = rows[v];
      }
    });
  }
  for (std::size_t i = begin; i < count; ++i)
    for (std::size_t v = 0; v < width; ++v) vectors[v][i] = block[i * width + v];
}

}  // namespace weft::spmv
