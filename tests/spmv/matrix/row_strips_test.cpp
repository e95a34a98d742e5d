#include "spmv/matrix/row_strips.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/matrix/split_matrix.h"

namespace weft::spmv {
namespace {

constexpr LocalIndex strip_rows = RowStrips::strip_rows;

/// Rows with entries at the given distances, as far as there are such columns.
DistributedMatrix banded_matrix(LocalIndex row_count, const std::vector<LocalIndex>& distances) {
  std::vector<LocalIndex> columns;
  std::vector<std::int64_t> offsets{0};
  for (LocalIndex row = 0; row < row_count; ++row) {
    for (const LocalIndex distance : distances)
      if (row + distance >= 0 && row + distance < row_count) columns.push_back(row + distance);
    offsets.push_back(std::ssize(columns));
  }
  DistributedMatrix matrix{.partition = RowPartition::by_rows(row_count, 1),
                           .rows = {},
                           .halo_columns = {},
                           .global_nonzero_count = std::ssize(columns)};
  matrix.rows.row_count = row_count;
  matrix.rows.row_offsets = perfmodel::HugePageBuffer<std::int64_t>(offsets.size());
  matrix.rows.columns = perfmodel::HugePageBuffer<LocalIndex>(columns.size());
  matrix.rows.values = perfmodel::HugePageBuffer<double>(columns.size());
  std::ranges::copy(offsets, matrix.rows.row_offsets.data());
  std::ranges::copy(columns, matrix.rows.columns.data());
  for (std::size_t k = 0; k < columns.size(); ++k)
    matrix.rows.values[k] = static_cast<double>(k % 7) - 2;
  return matrix;
}

DistributedMatrix grid_matrix(LocalIndex plane, LocalIndex planes) {
  return banded_matrix(plane * planes, {-plane, -400, -1, 0, 1, 400, plane});
}

TEST_CASE("a plane is how far most rows reach") {
  const LocalIndex plane = 5 * strip_rows + 40;
  const auto matrix = grid_matrix(plane, 3);
  const RowStrips strips(matrix.rows, 0, matrix.rows.row_count);
  CHECK(strips.plane() == plane);
  CHECK(strips.strip_of(0) == 0);
  CHECK(strips.strip_of(strip_rows - 1) == 0);
  CHECK(strips.strip_of(strip_rows) == 1);
  CHECK(strips.strip_of(plane - 1) == 5);
  CHECK(strips.strip_of(plane) == 0);
  CHECK(strips.strip_of(2 * plane + strip_rows) == 1);
  CHECK(RowStrips(matrix.rows, plane / 2, plane).plane() == plane);
}

TEST_CASE("there is one strip where planes are small, rows do not agree or there are none") {
  const auto small = grid_matrix(strip_rows, 4);
  CHECK(RowStrips(small.rows, 0, small.rows.row_count).plane() == 0);
  CHECK(RowStrips(small.rows, 8, 8).plane() == 0);
  CHECK(RowStrips(small.rows, 0, small.rows.row_count).strip_of(3 * strip_rows + 1) == 0);

  auto uneven = banded_matrix(12 * strip_rows, {-6 * strip_rows, 0});
  for (LocalIndex row = 6 * strip_rows; row < uneven.rows.row_count; ++row) {
    const auto first = uneven.rows.row_offsets[static_cast<std::size_t>(row)];
    uneven.rows.columns[static_cast<std::size_t>(first)] = row % (5 * strip_rows);
  }
  CHECK(RowStrips(uneven.rows, 0, uneven.rows.row_count).plane() == 0);
}

TEST_CASE("what lies in the halo does not count as far") {
  auto matrix = grid_matrix(5 * strip_rows, 3);
  const auto& offsets = matrix.rows.row_offsets;
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
    matrix.rows.columns[static_cast<std::size_t>(offsets[row + 1]) - 1] = matrix.rows.row_count;
  CHECK(RowStrips(matrix.rows, 0, matrix.rows.row_count).plane() == 5 * strip_rows);
}

TEST_CASE("a thread goes through a strip of a stencil in all planes before the next") {
  const LocalIndex plane = 5 * strip_rows;
  const comm_thread::ComputeTeam team(1, comm_thread::WaitPolicy::yield);
  const auto format = GENERATE(MatrixFormat::automatic, MatrixFormat::crs);
  const SplitMatrix matrix(grid_matrix(plane, 3), team, format);
  const bool is_stencil = format == MatrixFormat::automatic;
  CHECK(matrix.format_name().starts_with(is_stencil ? "stencil" : "CRS"));
  const LocalIndex row_count = matrix.row_count();
  perfmodel::HugePageBuffer<double> x(static_cast<std::size_t>(row_count) + 64);
  perfmodel::HugePageBuffer<double> y(static_cast<std::size_t>(row_count));
  std::ranges::fill(x.span(), 1.0);

  std::vector<LocalIndex> blocks;
  matrix.multiply_blocks(RowSet::all, 0, x.data() + 32, y.data(),
                         [&](LocalIndex row, LocalIndex /*count*/) { blocks.push_back(row); });

  const auto strip = [&](LocalIndex row) { return is_stencil ? row % plane / strip_rows : 0; };
  CHECK(std::ranges::is_sorted(blocks, [&](LocalIndex a, LocalIndex b) {
    return strip(a) != strip(b) ? strip(a) < strip(b) : a < b;
  }));
  CHECK(std::ranges::is_sorted(blocks) != is_stencil);
  std::ranges::sort(blocks);
  CHECK(std::ssize(blocks) == (row_count + matrix.block_size() - 1) / matrix.block_size());
  CHECK(std::ranges::adjacent_find(blocks) == blocks.end());

  const CrsMatrix& rows = matrix.matrix().rows;
  LocalIndex wrong = 0;
  for (std::size_t row = 0; row < y.size(); ++row) {
    double sum = 0;
    for (auto k = rows.row_offsets[row]; k < rows.row_offsets[row + 1]; ++k)
      sum += rows.values[static_cast<std::size_t>(k)];
    wrong += y[row] != sum;
  }
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace weft::spmv
