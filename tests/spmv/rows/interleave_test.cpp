#include "spmv/rows/interleave.h"

#include <cstddef>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

TEST_CASE("vectors are put together row by row, and taken apart again") {
  for (const std::size_t width : {2U, 3U, 4U, 8U})
    for (const std::size_t count : {0U, 1U, 7U, 8U, 21U}) {
      INFO(width << " vectors of " << count);
      std::vector<std::vector<double>> vectors(width, std::vector<double>(count));
      std::vector<const double*> from;
      for (std::size_t v = 0; v < width; ++v) {
        for (std::size_t i = 0; i < count; ++i) vectors[v][i] = static_cast<double>(100 * v + i);
        from.push_back(vectors[v].data());
      }
      std::vector<double> block(width * count, -1.0);
      interleave(from, count, block.data());
      int wrong = 0;
      for (std::size_t i = 0; i < block.size(); ++i)
        wrong += block[i] != vectors[i % width][i / width];
      CHECK(wrong == 0);

      auto again = vectors;
      std::vector<double*> to;
      for (auto& vector : again) {
        vector.assign(count, -1.0);
        to.push_back(vector.data());
      }
      separate(block.data(), count, to);
      CHECK(again == vectors);
    }
}

}  // namespace
}  // namespace weft::spmv
