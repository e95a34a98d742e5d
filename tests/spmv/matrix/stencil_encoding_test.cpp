#include "spmv/matrix/stencil_encoding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/problems/irregular_generator.h"
#include "spmv/problems/stencil_generator.h"

namespace weft::spmv {
namespace {

struct Row {
  std::vector<GlobalIndex> columns;
  std::vector<double> values;
};

std::vector<Row> rows_of(const std::string& word) {
  const Problem problem = Problem::parse(word);
  std::vector<Row> rows;
  StencilGenerator(problem).visit_rows(
      0, problem.row_count(),
      [&](GlobalIndex, std::span<const GlobalIndex> columns, std::span<const double> values) {
        rows.push_back({{columns.begin(), columns.end()}, {values.begin(), values.end()}});
      });
  return rows;
}

/// Part of the matrix that `rank` of `rank_count` would hold.
DistributedMatrix part_of(const std::vector<Row>& rows, int rank, int rank_count) {
  DistributedMatrix matrix{RowPartition::by_rows(std::ssize(rows), rank_count), rank, {}, {}, 0};
  const GlobalIndex begin = matrix.partition.begin(rank);
  const GlobalIndex end = matrix.partition.end(rank);
  std::set<GlobalIndex> halo;
  std::size_t nonzeros = 0;
  for (GlobalIndex row = begin; row < end; ++row)
    for (const GlobalIndex column : rows[static_cast<std::size_t>(row)].columns) {
      if (column < begin || column >= end) halo.insert(column);
      ++nonzeros;
    }
  matrix.halo_columns.assign(halo.begin(), halo.end());
  matrix.rows.row_count = static_cast<LocalIndex>(end - begin);
  matrix.rows.row_offsets =
      perfmodel::HugePageBuffer<std::int64_t>(static_cast<std::size_t>(end - begin) + 1);
  matrix.rows.columns = perfmodel::HugePageBuffer<LocalIndex>(nonzeros);
  matrix.rows.values = perfmodel::HugePageBuffer<double>(nonzeros);
  std::size_t place = 0;
  for (GlobalIndex row = begin; row < end; ++row) {
    const Row& entries = rows[static_cast<std::size_t>(row)];
    for (std::size_t i = 0; i < entries.columns.size(); ++i, ++place) {
      const GlobalIndex column = entries.columns[i];
      const auto halo_place = std::ranges::lower_bound(matrix.halo_columns, column);
      matrix.rows.columns[place] =
          column >= begin && column < end
              ? static_cast<LocalIndex>(column - begin)
              : matrix.rows.row_count +
                    static_cast<LocalIndex>(halo_place - matrix.halo_columns.begin());
      matrix.rows.values[place] = entries.values[i];
    }
    matrix.rows.row_offsets[static_cast<std::size_t>(row - begin) + 1] =
        static_cast<std::int64_t>(place);
  }
  return matrix;
}

double x_at(GlobalIndex i) { return std::sin(static_cast<double>(i)) + 0.1; }

/// Own entries and halo of x with 8 entries of NaN on either side, as far as they are used by rows
/// begin … end-1; NaN elsewhere.
std::vector<double> x_for(const DistributedMatrix& matrix, LocalIndex begin, LocalIndex end) {
  const std::size_t entries =
      static_cast<std::size_t>(matrix.rows.row_count) + matrix.halo_columns.size();
  std::vector<double> x(entries + 16, std::numeric_limits<double>::quiet_NaN());
  const auto first = matrix.rows.row_offsets[static_cast<std::size_t>(begin)];
  const auto last = matrix.rows.row_offsets[static_cast<std::size_t>(end)];
  for (auto k = first; k < last; ++k) {
    const LocalIndex column = matrix.rows.columns[static_cast<std::size_t>(k)];
    x[static_cast<std::size_t>(column) + 8] = x_at(matrix.global_column(column));
  }
  return x;
}

double expected_y(const DistributedMatrix& matrix, LocalIndex row) {
  double sum = 0;
  for (auto k = matrix.rows.row_offsets[static_cast<std::size_t>(row)];
       k < matrix.rows.row_offsets[static_cast<std::size_t>(row) + 1]; ++k)
    sum += matrix.rows.values[static_cast<std::size_t>(k)] *
           x_at(matrix.global_column(matrix.rows.columns[static_cast<std::size_t>(k)]));
  return sum;
}

int wrong_count(const DistributedMatrix& matrix, const StencilEncoding& encoding, LocalIndex begin,
                LocalIndex end) {
  const std::vector<double> x = x_for(matrix, begin, end);
  perfmodel::HugePageBuffer<double> y(static_cast<std::size_t>(matrix.rows.row_count) + 8);
  std::fill(y.data(), y.data() + y.size(), -7.0);
  encoding.multiply(begin, end, x.data() + 8, y.data());
  int wrong = 0;
  for (LocalIndex row = 0; row < matrix.rows.row_count; ++row) {
    const double expected = row >= begin && row < end ? expected_y(matrix, row) : -7.0;
    wrong += std::bit_cast<std::uint64_t>(y[static_cast<std::size_t>(row)]) !=
             std::bit_cast<std::uint64_t>(expected);
  }
  return wrong;
}

/// The same for several vectors, each a multiple of x.
int wrong_block_count(const DistributedMatrix& matrix, const StencilEncoding& encoding,
                      LocalIndex begin, LocalIndex end, int width) {
  const std::vector<double> x = x_for(matrix, begin, end);
  const auto vectors = static_cast<std::size_t>(width);
  std::vector<double> block;
  for (const double entry : x)
    for (int vector = 0; vector < width; ++vector) block.push_back(entry * (1 << vector));
  std::vector<double> y(static_cast<std::size_t>(end - begin) * vectors + 1, -7.0);
  encoding.multiply_block(begin, end, width, block.data() + 8 * vectors, y.data());
  int wrong = y.back() != -7.0;
  for (LocalIndex row = begin; row < end; ++row)
    for (std::size_t vector = 0; vector < vectors; ++vector)
      wrong += std::bit_cast<std::uint64_t>(
                   y[static_cast<std::size_t>(row - begin) * vectors + vector]) !=
               std::bit_cast<std::uint64_t>(expected_y(matrix, row) *
                                            std::exp2(static_cast<double>(vector)));
  return wrong;
}

/// Rows whose diagonal is different in each; of some there is none.
std::vector<Row> with_own_diagonal(std::vector<Row> rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto place = std::ranges::find(rows[row].columns, static_cast<GlobalIndex>(row));
    const auto entry = place - rows[row].columns.begin();
    rows[row].values[static_cast<std::size_t>(entry)] += std::cos(static_cast<double>(row));
    if (row % 4096 != 31) continue;
    rows[row].columns.erase(place);
    rows[row].values.erase(rows[row].values.begin() + entry);
  }
  return rows;
}

// 50, 34: lines that are no multiple of the chunk.
const std::vector<std::string> stencil_words{
    "poisson3d:200x10x10",  "poisson3d:50x50x12", "poisson2d:50x200",
    "poisson3d27:48x16x16", "poisson2d:34x300",   "anisotropic3d:64x16x16,1,0.1,0.01"};

TEST_CASE("several vectors have the bits of the rows summed in ascending order") {
  for (const std::string& word : stencil_words)
    for (const bool has_diagonal : {false, true})
      for (const int rank : {0, 2}) {
        const std::vector<Row> rows =
            has_diagonal ? with_own_diagonal(rows_of(word)) : rows_of(word);
        const DistributedMatrix matrix = part_of(rows, rank, 3);
        const auto encoding = StencilEncoding::encode(matrix, 0, matrix.rows.row_count);
        REQUIRE(encoding.has_value());
        const LocalIndex end = encoding->encoded_end();
        for (const int width : {2, 4, 8, 16}) {
          CAPTURE(word, has_diagonal, rank, width);
          CHECK(wrong_block_count(matrix, *encoding, 0, end, width) == 0);
          CHECK(wrong_block_count(matrix, *encoding, 24, end / 16 * 8, width) == 0);
        }
      }
}

TEST_CASE("a diagonal that does not repeat stands apart, with the bits of the rows") {
  for (const std::string& word : stencil_words)
    for (const int rank_count : {1, 3})
      for (int rank = 0; rank < rank_count; ++rank) {
        CAPTURE(word, rank, rank_count);
        const std::vector<Row> rows = rows_of(word);
        const DistributedMatrix matrix = part_of(with_own_diagonal(rows), rank, rank_count);
        const auto encoding = StencilEncoding::encode(matrix, 0, matrix.rows.row_count);
        REQUIRE(encoding.has_value());
        CHECK(encoding->has_diagonal());
        CHECK(wrong_count(matrix, *encoding, 0, encoding->encoded_end()) == 0);
        CHECK(wrong_count(matrix, *encoding, 24, 480) == 0);
        const DistributedMatrix repeated = part_of(rows, rank, rank_count);
        const auto shorter = StencilEncoding::encode(repeated, 0, repeated.rows.row_count);
        REQUIRE(shorter.has_value());
        CHECK_FALSE(shorter->has_diagonal());
        CHECK(encoding->bytes() - shorter->bytes() >= std::int64_t{8} * encoding->encoded_end());
      }
}

TEST_CASE("encoded rows give the bits of the rows summed in ascending order") {
  for (const std::string& word : stencil_words) {
    const std::vector<Row> rows = rows_of(word);
    for (const int rank_count : {1, 3})
      for (int rank = 0; rank < rank_count; ++rank) {
        CAPTURE(word, rank, rank_count);
        const DistributedMatrix matrix = part_of(rows, rank, rank_count);
        const auto encoding = StencilEncoding::encode(matrix, 0, matrix.rows.row_count);
        CHECK(encoding.has_value());
        if (!encoding) continue;
        CHECK(encoding->encoded_end() == matrix.rows.row_count / 8 * 8);
        CHECK(wrong_count(matrix, *encoding, 0, encoding->encoded_end()) == 0);
      }
  }
}

TEST_CASE("any run of whole chunks is multiplied alone, and nothing else is written") {
  const DistributedMatrix matrix = part_of(rows_of("poisson2d:50x100"), 1, 2);
  const auto encoding = StencilEncoding::encode(matrix, 0, matrix.rows.row_count);
  CHECK(encoding.has_value());
  if (!encoding) return;
  for (LocalIndex begin = 0; begin < encoding->encoded_end(); begin += 104)
    for (const LocalIndex length : {8, 16, 120, 1200}) {
      CAPTURE(begin, length);
      CHECK(wrong_count(matrix, *encoding, begin,
                        std::min(begin + length, encoding->encoded_end())) == 0);
    }
}

TEST_CASE("each thread encodes its own rows") {
  const DistributedMatrix matrix = part_of(rows_of("poisson2d:64x60"), 0, 1);
  const auto encoding = StencilEncoding::encode(matrix, 1000, 3004);
  CHECK(encoding.has_value());
  if (!encoding) return;
  CHECK(encoding->encoded_end() == 3000);
  CHECK(wrong_count(matrix, *encoding, 1000, 3000) == 0);
  // Two runs, three for each of 30 whole lines, two; and one that two groups of chunks share.
  CHECK(encoding->bytes() == std::int64_t{95} * 4);
}

TEST_CASE("a line of whole chunks has three patterns per kind of line") {
  const DistributedMatrix matrix = part_of(rows_of("poisson3d:200x10x10"), 0, 1);
  const auto encoding = StencilEncoding::encode(matrix, 0, matrix.rows.row_count);
  CHECK(encoding.has_value());
  if (encoding) CHECK(encoding->pattern_count() == 27);
}

TEST_CASE("rows that do not repeat are refused") {
  const Problem problem = Problem::parse("irregular:4000");
  std::vector<Row> rows;
  IrregularGenerator(problem.irregular)
      .visit_rows(
          0, problem.row_count(),
          [&](GlobalIndex, std::span<const GlobalIndex> columns, std::span<const double> values) {
            rows.push_back({{columns.begin(), columns.end()}, {values.begin(), values.end()}});
          });
  const DistributedMatrix irregular = part_of(rows, 0, 1);
  CHECK_FALSE(StencilEncoding::encode(irregular, 0, 4000).has_value());

  std::vector<Row> varying = rows_of("poisson2d:64x60");
  for (std::size_t row = 0; row < varying.size(); ++row)
    varying[row].values[0] += static_cast<double>(row);
  const DistributedMatrix matrix = part_of(varying, 0, 1);
  CHECK_FALSE(StencilEncoding::encode(matrix, 0, 3840).has_value());
}

TEST_CASE("rows that differ in one entry among many are kept apart") {
  std::vector<Row> rows = rows_of("poisson2d:64x60");
  rows[1003].values[2] = 4.5;
  rows[2011].columns[0] -= 1;
  rows[3001] = {};
  rows[3009].values[1] = -0.0;
  rows[2523].columns.push_back(3700);
  rows[2523].values.push_back(0.5);
  const DistributedMatrix matrix = part_of(rows, 0, 1);
  const auto encoding = StencilEncoding::encode(matrix, 0, matrix.rows.row_count);
  CHECK(encoding.has_value());
  if (encoding) CHECK(wrong_count(matrix, *encoding, 0, encoding->encoded_end()) == 0);
}

TEST_CASE("a chunk that reads only below an entry says so, and none wrongly") {
  const DistributedMatrix matrix = part_of(rows_of("poisson2d:64x60"), 0, 2);
  const auto encoding = StencilEncoding::encode(matrix, 0, matrix.rows.row_count);
  CHECK(encoding.has_value());
  if (!encoding) return;
  for (LocalIndex row = 0; row < encoding->encoded_end(); row += 8) {
    const auto first = matrix.rows.row_offsets[static_cast<std::size_t>(row)];
    const auto last = matrix.rows.row_offsets[static_cast<std::size_t>(row) + 8];
    const LocalIndex highest =
        *std::max_element(matrix.rows.columns.data() + first, matrix.rows.columns.data() + last);
    const LocalIndex end = matrix.rows.row_count;
    if (highest >= end) CHECK_FALSE(encoding->reads_only_below(row, end));
    if (highest < end - 8) CHECK(encoding->reads_only_below(row, end));
  }
}

TEST_CASE("no rows, and fewer than a chunk, leave nothing encoded") {
  const DistributedMatrix matrix = part_of(rows_of("poisson2d:64x60"), 0, 1);
  for (const LocalIndex end : {0, 7})
    if (const auto encoding = StencilEncoding::encode(matrix, 0, end))
      CHECK(encoding->encoded_end() == 0);
}

}  // namespace
}  // namespace weft::spmv
