#include "spmv/matrix/sliced_rows.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/placement/compute_team.h"
#include "spmv/matrix/block_crs_kernel.h"
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
int other_bits(const CrsMatrix& rows, const SlicedRows<double>& sliced,
               const std::vector<double>& x) {
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

/// Entries of several vectors at once that have other bits than CRS gives.
int other_bits_of_block(const CrsMatrix& rows, const SlicedRows<double>& sliced, int width) {
  std::vector<double> x = make_x(width * 100'032);
  x[7] = std::numeric_limits<double>::infinity();
  const auto count = static_cast<std::size_t>(rows.row_count) * static_cast<std::size_t>(width);
  std::vector<double> expected(count);
  multiply_crs_block(rows, 0, rows.row_count, width, x.data(), expected.data());
  std::vector<double> y = expected;
  for (LocalIndex row = 0;;) {
    const LocalIndex begin = sliced.next_stored(row, rows.row_count);
    row = sliced.stored_end(begin, rows.row_count);
    if (begin == row) break;
    double* const results = y.data() + std::ptrdiff_t{begin} * width;
    std::fill_n(results, std::ptrdiff_t{row - begin} * width, -7);
    sliced.multiply_block(begin, row, width, x.data(), results);
  }
  int others = 0;
  for (std::size_t i = 0; i < count; ++i)
    others += std::bit_cast<std::uint64_t>(y[i]) != std::bit_cast<std::uint64_t>(expected[i]);
  return others;
}

LocalIndex varying_length(LocalIndex row) { return 3 + row * 5 % 23; }

TEST_CASE("rows of varying length have the bits of CRS eight at a time") {
  const CrsMatrix rows = make_rows(1000, 0, varying_length);
  const SlicedRows<double> sliced(rows, 0, rows.row_count);
  CHECK(sliced.row_count() == 960);  // whole windows
  CHECK(other_bits(rows, sliced, make_x(1000)) == 0);
}

TEST_CASE("windows whose columns are near each other and others have the bits of CRS") {
  CrsMatrix rows = make_rows(100'032, 0, varying_length);
  const auto near = static_cast<std::size_t>(rows.row_offsets[6400]);
  for (std::size_t k = 0; k < near; ++k) rows.columns[k] %= 65'536;
  const SlicedRows<double> sliced(rows, 0, rows.row_count);
  const SlicedRows<double> far(rows, 6400, rows.row_count);
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

TEST_CASE("several vectors at once have the bits of CRS, where rows are short, long or far away") {
  CrsMatrix rows = make_rows(100'032, 0, [](LocalIndex row) {
    return row < 64     ? row % 3
           : row < 128  ? 255 - row % 2 * 250
           : row == 150 ? 256
                        : varying_length(row);
  });
  const auto near = static_cast<std::size_t>(rows.row_offsets[6400]);
  for (std::size_t k = 0; k < near; ++k) rows.columns[k] %= 65'536;
  const SlicedRows<double> sliced(rows, 0, rows.row_count);
  CHECK(sliced.row_count() == 100'032 - 64);
  for (const int width : {2, 4, 8, 16}) {
    INFO(width << " vectors");
    CHECK(other_bits_of_block(rows, sliced, width) == 0);
  }
}

TEST_CASE("empty rows, rows of one and of 255 entries are stored, longer ones are left out") {
  const CrsMatrix rows = make_rows(256, 0, [](LocalIndex row) {
    return row < 64 ? row % 2 : row < 128 ? (row % 3 == 0 ? 255 : 1) : row == 130 ? 256 : 4;
  });
  const SlicedRows<double> sliced(rows, 0, rows.row_count);
  CHECK(sliced.row_count() == 192);
  CHECK(other_bits(rows, sliced, make_x(256)) == 0);
}

TEST_CASE("what is not finite stays in the rows that read it, where lanes are masked, too") {
  const CrsMatrix rows = make_rows(640, 0, [](LocalIndex row) { return row % 5; });
  const SlicedRows<double> sliced(rows, 0, rows.row_count);
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
  const SlicedRows<double> sliced(rows, 0, rows.row_count);
  CHECK(sliced.row_count() == 128);
  CHECK(sliced.next_stored(1, 192) == 128);
  CHECK(sliced.stored_end(0, 192) == 64);
  CHECK(sliced.next_stored(128, 191) == 191);  // the end of its window is not asked for
  CHECK(other_bits(rows, sliced, make_x(200)) == 0);
}

template <class Length>
SplitMatrix make_split_matrix(const comm_thread::ComputeTeam& team, MatrixFormat format,
                              const Length& length) {
  DistributedMatrix matrix{.partition = RowPartition::by_rows(4096, 1),
                           .rows = make_rows(4096, 0, length),
                           .halo_columns = {}};
  return SplitMatrix(std::move(matrix), team, format);
}

TEST_CASE("SELL is tried where lengths vary, and can be asked for") {
  const comm_thread::ComputeTeam team(2, comm_thread::WaitPolicy::yield);
  const auto same = [](LocalIndex) { return 7; };
  const auto expect = [&](MatrixFormat format, auto length, const char* name, int products) {
    SplitMatrix matrix = make_split_matrix(team, format, length);
    CHECK(matrix.format_name() == name);
    CHECK(matrix.expect_products(1000) == products);
    CHECK(matrix.is_undecided() == (products > 0));
    CHECK(matrix.may_be_sliced() == (products > 0 || format == MatrixFormat::sell));
    CHECK_FALSE(matrix.storage_times());
  };
  expect(MatrixFormat::automatic, varying_length, "CRS", 9);
  expect(MatrixFormat::automatic, same, "CRS", 0);
  expect(MatrixFormat::sell, same, "SELL-8", 0);
  expect(MatrixFormat::sell, varying_length, "SELL-8", 0);
  expect(MatrixFormat::crs, varying_length, "CRS", 0);
}

/// Makes products, some of which are slow: as SELL or as CRS. The results have the bits of CRS.
void make_products_in_trial(SplitMatrix& matrix, const comm_thread::ComputeTeam& team,
                            bool slow_as_sell, int count) {
  const std::vector<double> x = make_x(4096);
  std::vector<double> expected(4096);
  multiply_crs(matrix.matrix().rows, 0, 4096, x.data(), expected.data());
  std::vector<double> y(4096);
  int others = 0;
  team.run([&](const comm_thread::TeamThread& thread) {
    for (int product = 0; product < count; ++product) {
      for (const RowSet set : {RowSet::interior, RowSet::boundary})
        matrix.in_due_form(set, thread.index, 1, [&] {
          if (product % 2 == (slow_as_sell ? 1 : 0) && product > 1)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
          matrix.multiply(set, thread.index, x.data(), y.data(), nullptr);
        });
      thread.barrier();
      if (thread.is_primary()) {
        others += y != expected;
        std::ranges::fill(y, -7);
      }
      thread.barrier();
    }
  });
  CHECK(others == 0);
}

TEST_CASE("the quicker form is kept, the other one given up, and each has the bits of CRS") {
  const comm_thread::ComputeTeam team(2, comm_thread::WaitPolicy::yield);
  SplitMatrix sell = make_split_matrix(team, MatrixFormat::automatic, varying_length);
  const std::int64_t crs_bytes = sell.matrix_bytes();
  const int products = sell.expect_products(1000);
  make_products_in_trial(sell, team, false, products - 1);
  CHECK(sell.is_undecided());
  CHECK(sell.format_name() == "CRS");
  CHECK(sell.matrix_bytes() == crs_bytes);
  CHECK(sell.may_be_sliced());
  make_products_in_trial(sell, team, false, 2);
  CHECK(sell.format_name() == "SELL-8");
  CHECK(sell.storage_times());
  CHECK(sell.may_be_sliced());
  CHECK(sell.matrix_bytes() != crs_bytes);

  SplitMatrix crs = make_split_matrix(team, MatrixFormat::automatic, varying_length);
  make_products_in_trial(crs, team, true, crs.expect_products(1000) + 1);
  CHECK_FALSE(crs.is_undecided());
  CHECK(crs.format_name() == "CRS");
  CHECK(crs.storage_times());
  CHECK_FALSE(crs.may_be_sliced());
  CHECK(crs.matrix_bytes() == crs_bytes);
}

TEST_CASE("a product that is timed is made in the form that it is timed for") {
  const comm_thread::ComputeTeam team(1, comm_thread::WaitPolicy::yield);
  SplitMatrix matrix = make_split_matrix(team, MatrixFormat::automatic, varying_length);
  matrix.expect_products(1000);
  make_products_in_trial(matrix, team, false, 2);
  // CRS gets other values than SELL: they tell who made a product.
  const CrsMatrix& rows = matrix.matrix().rows;
  const std::span<double> values(const_cast<double*>(rows.values.data()), rows.values.size());
  for (double& value : values) value *= 2;
  const std::vector<double> x = make_x(4096);
  std::vector<double> of_crs(4096);
  multiply_crs(rows, 0, 4096, x.data(), of_crs.data());
  for (int product = 0; product < 6; ++product) {
    std::vector<double> y(4096);
    matrix.in_due_form(RowSet::all, 0, 1,
                       [&] { matrix.multiply(RowSet::all, 0, x.data(), y.data(), nullptr); });
    CHECK((y == of_crs) == (product % 2 == 0));
  }
}

TEST_CASE("nothing is tried in products that do not count, nor when SELL is taken at once") {
  const comm_thread::ComputeTeam team(2, comm_thread::WaitPolicy::yield);
  SplitMatrix held = make_split_matrix(team, MatrixFormat::automatic, varying_length);
  held.expect_products(0);
  make_products_in_trial(held, team, false, 40);
  CHECK(held.is_undecided());
  CHECK(held.expect_products(1000) == 9);
  SplitMatrix taken = make_split_matrix(team, MatrixFormat::automatic, varying_length);
  taken.take_sell(team);
  CHECK(taken.format_name() == "SELL-8");
  make_products_in_trial(taken, team, false, 2);
  CHECK(taken.expect_products(1000) == 0);
}

TEST_CASE("new values have the bits of CRS in windows of all kinds, again and again") {
  // Empty rows; a window that is left out; near columns; far ones.
  CrsMatrix rows = make_rows(100'032, 0, [](LocalIndex row) {
    return row < 64 ? row % 3 : row == 70 ? 256 : varying_length(row);
  });
  const auto near = static_cast<std::size_t>(rows.row_offsets[6400]);
  for (std::size_t k = 0; k < near; ++k) rows.columns[k] %= 65'536;
  SlicedRows<double> sliced(rows, 0, rows.row_count);
  CHECK(sliced.row_count() == 100'032 - 64);
  for (const std::size_t period : {7U, 103U}) {
    for (std::size_t k = 0; k < rows.values.size(); ++k)
      rows.values[k] = 1.0 / (1.5 + static_cast<double>(k % period));
    CHECK(other_bits(rows, sliced, make_x(100'032)) > 90'000);  // those of the old values
    sliced.update_values(rows);
    CHECK(other_bits(rows, sliced, make_x(100'032)) == 0);
  }
}

TEST_CASE("new values are multiplied after an update, also during a trial and after it") {
  const comm_thread::ComputeTeam team(2, comm_thread::WaitPolicy::yield);
  SplitMatrix split = make_split_matrix(team, MatrixFormat::automatic, varying_length);
  const auto update = [&] {
    split.update_values(team, [&](const comm_thread::TeamThread&, LocalIndex begin, LocalIndex end,
                                  std::span<double> values) {
      const auto& offsets = split.matrix().rows.row_offsets;
      for (auto k = offsets[static_cast<std::size_t>(begin)];
           k < offsets[static_cast<std::size_t>(end)]; ++k)
        values[static_cast<std::size_t>(k)] *= 3;
    });
  };
  const int products = split.expect_products(1000);
  for (int product = 0; product < products + 2; ++product) {
    update();
    make_products_in_trial(split, team, false, 1);
  }
  CHECK_FALSE(split.is_undecided());
  split.take_sell(team);  // whatever was quicker
  update();
  make_products_in_trial(split, team, false, 1);
}

}  // namespace
}  // namespace weft::spmv
