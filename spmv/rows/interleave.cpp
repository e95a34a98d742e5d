#include "spmv/rows/interleave.h"

#include <array>

#include "perfmodel/simd.h"
#include "perfmodel/transpose.h"

namespace weft::spmv {

void interleave(std::span<const double* const> vectors, std::size_t count, double* block) {
  const std::size_t width = vectors.size();
  std::size_t begin = 0;
  if (width == 8) {
    perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
      for (; begin + 8 <= count; begin += 8) {
        std::array<typename Simd::Lane8, 8> rows;
#pragma GCC unroll 8
        for (std::size_t v = 0; v < 8; ++v) rows[v] = Simd::Lane8::load(vectors[v] + begin);
        perfmodel::transpose(rows);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < 8; ++i) rows[i].store(block + (begin + i) * 8);
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
    perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
      for (; begin + 8 <= count; begin += 8) {
        std::array<typename Simd::Lane8, 8> rows;
#pragma GCC unroll 8
        for (std::size_t i = 0; i < 8; ++i) rows[i] = Simd::Lane8::load(block + (begin + i) * 8);
        perfmodel::transpose(rows);
#pragma GCC unroll 8
        for (std::size_t v = 0; v < 8; ++v) rows[v].store(vectors[v] + begin);
      }
    });
  }
  for (std::size_t i = begin; i < count; ++i)
    for (std::size_t v = 0; v < width; ++v) vectors[v][i] = block[i * width + v];
}

}  // namespace weft::spmv
