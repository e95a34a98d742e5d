#include "spmv/rows/thread_rows.h"

#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

using Offsets = std::vector<std::int64_t>;

Offsets offsets_of(const std::vector<std::int64_t>& row_lengths) {
  Offsets offsets{0};
  for (const std::int64_t length : row_lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

TEST_CASE("equal rows are cut evenly, between blocks") {
  const Offsets offsets = offsets_of(std::vector<std::int64_t>(64, 5));
  CHECK(cut_rows_for_threads(offsets, 8, 1) == std::vector<LocalIndex>{0, 64});
  CHECK(cut_rows_for_threads(offsets, 8, 2) == std::vector<LocalIndex>{0, 32, 64});
  CHECK(cut_rows_for_threads(offsets, 1, 4) == std::vector<LocalIndex>{0, 16, 32, 48, 64});
}

TEST_CASE("long rows count for more") {
  std::vector<std::int64_t> lengths(64, 1);
  for (std::size_t row = 0; row < 16; ++row) lengths[row] = 1000;
  const auto cuts = cut_rows_for_threads(offsets_of(lengths), 1, 2);
  CHECK(cuts[1] >= 8);
  CHECK(cuts[1] <= 9);
}

TEST_CASE("cuts ascend and end with the last row, whatever the sizes") {
  for (const std::size_t rows : {0u, 1u, 7u, 8u, 9u, 100u, 1001u})
    for (const int threads : {1, 2, 3, 8})
      for (const GlobalIndex block : {1, 8, 16}) {
        CAPTURE(rows, threads, block);
        const auto cuts =
            cut_rows_for_threads(offsets_of(std::vector<std::int64_t>(rows, 3)), block, threads);
        CHECK(std::ssize(cuts) == threads + 1);
        CHECK(cuts.front() == 0);
        CHECK(cuts.back() == static_cast<LocalIndex>(rows));
        for (std::size_t i = 1; i < cuts.size(); ++i) {
          CHECK(cuts[i] >= cuts[i - 1]);
          if (i + 1 < cuts.size()) CHECK(cuts[i] % block == 0);
        }
      }
}

TEST_CASE("empty rows are shared out too") {
  const auto cuts = cut_rows_for_threads(Offsets(65, 0), 1, 2);
  CHECK(cuts[1] == 32);
}

}  // namespace
}  // namespace weft::spmv
