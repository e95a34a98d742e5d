#include "spmv/matrix/sliced_rows.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/placement/compute_team.h"
#include "spmv/matrix/crs_kernel.h"
#include "spmv/matrix/split_matrix.h"

namespace weft::spmv {
namespace {

/// Row i has `length(i)` entries, in columns spread over x, with values that no sum gets exactly.
template <class Length>
CrsMatrix make_rows(LocalIndex row_count, LocalIndex halo_count, const Length& length) {
  CrsMatrix rows;
  rows.row_count = row_count;
  rows.row_offsets =
      perfmodel::HugePageBuffer<std::int64_t>(static_cast<std::size_t>(row_count) + 1);
  std::int64_t count = 0;
  for (LocalIndex row = 0; row < row_count; ++row) {
    count += length(row);
    rows.row_offsets[static_cast<std::size_t>(row) + 1] = count;
  }
  rows.columns = perfmodel::HugePageBuffer<LocalIndex>(static_cast<std::size_t>(count));
  rows.values = perfmodel::HugePageBuffer<double>(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    rows.columns[k] =
        static_cast<LocalIndex>((k * 7919) % static_cast<std::size_t>(row_count + halo_count));
    rows.values[k] = 1.0 / (3.0 + static_cast<double>(k % 101));
  }
  return rows;
}

std::vector<double> make_x(LocalIndex count) {
  std::vector<double> x(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.1 * static_cast<double>(i % 37) - 1.7;
  return x;
}

/// Rows of which `sliced` gives other bits than CRS.
int other_bits(const CrsMatrix& rows, const SlicedRows& sliced, const std::vector<double>& x) {
  std::vector<double> expected(static_cast<std::size_t>(rows.row_count));
  multiply_crs(rows, 0, rows.row_count, x.data(), expected.data());
  std::vector<double> y = expected;
  int others = 0;
  for (LocalIndex row = 0;;) {
    const LocalIndex begin = sliced.next_stored(row, rows.row_count);
    row = sliced.stored_end(begin, rows.row_count);
    if (begin == row) break;
    for (LocalIndex i = begin; i < row; ++i) y[static_cast<std::size_t>(i)] = -7;
    sliced.multiply(begin, row, x.data(), y.data());
  }
  for (std::size_t row = 0; row < y.size(); ++row)
    others += std::bit_cast<std::uint64_t>(y[row]) != std::bit_cast<std::uint64_t>(expected[row]);
  return others;
}

LocalIndex varying_length(LocalIndex row) { return 3 + row * 5 % 23; }

TEST_CASE("rows of varying length have the bits of CRS eight at a time") {
  const CrsMatrix rows = make_rows(1000, 0, varying_length);
  const SlicedRows sliced(rows, 0, rows.row_count);
  CHECK(sliced.row_count() == 960);  // whole windows
  CHECK(other_bits(rows, sliced, make_x(1000)) == 0);
}

TEST_CASE("windows whose columns are near each other and others have the bits of CRS") {
  CrsMatrix rows = make_rows(100'032, 0, varying_length);
  const auto near = static_cast<std::size_t>(rows.row_offsets[6400]);
  for (std::size_t k = 0; k < near; ++k) rows.columns[k] %= 65'536;
  const SlicedRows sliced(rows, 0, rows.row_count);
  const SlicedRows far(rows, 6400, rows.row_count);
  CHECK(sliced.row_count() == 100'032);
  CHECK(other_bits(rows, sliced, make_x(100'032)) == 0);
  const std::int64_t near_bytes = sliced.bytes() - far.bytes();
  const auto slots = [](std::int64_t bytes, std::int64_t rows_stored, int bytes_per_slot) {
    return static_cast<double>(bytes) / static_cast<double>(bytes_per_slot * rows_stored);
  };
  // As many slots a row, of 10 bytes and of 12.
  CHECK(slots(near_bytes, 6400, 10) ==
        Approx(slots(far.bytes(), far.row_count(), 12)).epsilon(0.02));
}

TEST_CASE("empty rows, rows of one and of 255 entries are stored, longer ones are left out") {
  const CrsMatrix rows = make_rows(256, 0, [](LocalIndex row) {
    return row < 64 ? row % 2 : row < 128 ? (row % 3 == 0 ? 255 : 1) : row == 130 ? 256 : 4;
  });
  const SlicedRows sliced(rows, 0, rows.row_count);
  CHECK(sliced.row_count() == 192);
  CHECK(other_bits(rows, sliced, make_x(256)) == 0);
}

TEST_CASE("what is not finite stays in the rows that read it, where lanes are masked, too") {
  const CrsMatrix rows = make_rows(640, 0, [](LocalIndex row) { return row % 5; });
  const SlicedRows sliced(rows, 0, rows.row_count);
  std::vector<double> x = make_x(640);
  for (std::size_t i = 0; i < x.size(); i += 2) x[i] = std::numeric_limits<double>::infinity();
  CHECK(other_bits(rows, sliced, x) == 0);
}

TEST_CASE("windows with rows of both kinds are left to CRS") {
  CrsMatrix rows = make_rows(192, 8, [](LocalIndex row) { return 1 + row % 2; });
  for (LocalIndex& column : rows.columns.span()) column = 5;
  rows.columns[static_cast<std::size_t>(rows.row_offsets[70])] = 195;  // one of window 1
  for (auto k = static_cast<std::size_t>(rows.row_offsets[128]);
       k < static_cast<std::size_t>(rows.row_offsets[192]); ++k)
    rows.columns[k] = 193;  // all of window 2
  const SlicedRows sliced(rows, 0, rows.row_count);
  CHECK(sliced.row_count() == 128);
  CHECK(sliced.next_stored(1, 192) == 128);
  CHECK(sliced.stored_end(0, 192) == 64);
  CHECK(sliced.next_stored(128, 191) == 191);  // the end of its window is not asked for
  CHECK(other_bits(rows, sliced, make_x(200)) == 0);
}

TEST_CASE("the form is chosen where lengths vary, and can be asked for") {
  const comm_thread::ComputeTeam team(2, comm_thread::WaitPolicy::yield);
  const auto format_name = [&](MatrixFormat format, auto length) {
    DistributedMatrix matrix{.partition = RowPartition::by_rows(4096, 1),
                             .rows = make_rows(4096, 0, length),
                             .halo_columns = {}};
    return SplitMatrix(std::move(matrix), team, format).format_name();
  };
  const auto same = [](LocalIndex) { return 7; };
  CHECK(format_name(MatrixFormat::automatic, varying_length) == "SELL-8");
  CHECK(format_name(MatrixFormat::automatic, same) == "CRS");
  CHECK(format_name(MatrixFormat::sell, same) == "SELL-8");
  CHECK(format_name(MatrixFormat::crs, varying_length) == "CRS");
}

TEST_CASE("new values have the bits of CRS in windows of all kinds, again and again") {
  // Empty rows; a window that is left out; near columns; far ones.
  CrsMatrix rows = make_rows(100'032, 0, [](LocalIndex row) {
    return row < 64 ? row % 3 : row == 70 ? 256 : varying_length(row);
  });
  const auto near = static_cast<std::size_t>(rows.row_offsets[6400]);
  for (std::size_t k = 0; k < near; ++k) rows.columns[k] %= 65'536;
  SlicedRows sliced(rows, 0, rows.row_count);
  CHECK(sliced.row_count() == 100'032 - 64);
  for (const std::size_t period : {7U, 103U}) {
    for (std::size_t k = 0; k < rows.values.size(); ++k)
      rows.values[k] = 1.0 / (1.5 + static_cast<double>(k % period));
    CHECK(other_bits(rows, sliced, make_x(100'032)) > 90'000);  // those of the old values
    sliced.update_values(rows);
    CHECK(other_bits(rows, sliced, make_x(100'032)) == 0);
  }
}

TEST_CASE("new values are multiplied after an update") {
  const comm_thread::ComputeTeam team(2, comm_thread::WaitPolicy::yield);
  DistributedMatrix matrix{.partition = RowPartition::by_rows(4096, 1),
                           .rows = make_rows(4096, 0, varying_length),
                           .halo_columns = {}};
  SplitMatrix split(std::move(matrix), team, MatrixFormat::automatic);
  split.update_values(team, [&](const comm_thread::TeamThread&, LocalIndex begin, LocalIndex end,
                                std::span<double> values) {
    const auto& offsets = split.matrix().rows.row_offsets;
    for (auto k = offsets[static_cast<std::size_t>(begin)];
         k < offsets[static_cast<std::size_t>(end)]; ++k)
      values[static_cast<std::size_t>(k)] *= 3;
  });
  const std::vector<double> x = make_x(4096);
  std::vector<double> y(4096, -7);
  std::vector<double> expected(4096);
  team.run([&](const comm_thread::TeamThread& thread) {
    split.multiply(RowSet::all, thread.index, x.data(), y.data(), nullptr);
  });
  multiply_crs(split.matrix().rows, 0, 4096, x.data(), expected.data());
  CHECK(y == expected);
}

}  // namespace
}  // namespace weft::spmv
