#include "solver/amg/coarsening/product_window.h"

#include <cstdint>
#include <map>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::solver::amg {
namespace {

constexpr spmv::LocalIndex row_count = 30'000;
constexpr std::size_t coarse_count = row_count / 3;

/// A chain whose row i has 2 + i on the diagonal.
spmv::DistributedMatrix chain() {
  spmv::DistributedMatrix matrix{
      .partition = spmv::RowPartition::by_rows(row_count, 1), .rows = {}, .halo_columns = {}};
  matrix.rows.row_count = row_count;
  matrix.rows.row_offsets = perfmodel::HugePageBuffer<std::int64_t>(row_count + 1);
  matrix.rows.columns = perfmodel::HugePageBuffer<spmv::LocalIndex>(3 * row_count);
  matrix.rows.values = perfmodel::HugePageBuffer<double>(3 * row_count);
  std::size_t k = 0;
  for (spmv::LocalIndex row = 0; row < row_count; ++row) {
    for (const spmv::LocalIndex column : {row - 1, row, row + 1})
      if (column >= 0 && column < row_count) {
        matrix.rows.columns[k] = column;
        matrix.rows.values[k++] = column == row ? 2.0 + row : -1.0;
      }
    matrix.rows.row_offsets[static_cast<std::size_t>(row) + 1] = static_cast<std::int64_t>(k);
  }
  return matrix;
}

/// Each row belongs to the aggregate of its three rows, and to the next one.
CouplingRows<float> prolongator() {
  CouplingRows<float> rows;
  for (spmv::LocalIndex row = 0; row < row_count; ++row) {
    const spmv::LocalIndex aggregate = row / 3;
    rows.couplings.push_back({0.75F, aggregate});
    if (aggregate + 1 < static_cast<spmv::LocalIndex>(coarse_count))
      rows.couplings.push_back({0.25F, aggregate + 1});
    rows.end_row();
  }
  return rows;
}

std::map<spmv::LocalIndex, double> expected_row(const spmv::DistributedMatrix& matrix,
                                                const CouplingRows<float>& p, std::size_t row) {
  std::map<spmv::LocalIndex, double> sums;
  for (auto k = static_cast<std::size_t>(matrix.rows.row_offsets[row]);
       k < static_cast<std::size_t>(matrix.rows.row_offsets[row + 1]); ++k)
    for (const auto& [weight, column] : p.row(static_cast<std::size_t>(matrix.rows.columns[k])))
      sums[column] += static_cast<double>(weight) * matrix.rows.values[k];
  return sums;
}

TEST_CASE("a window has the rows of A·P that a coarse row needs, and room for few") {
  const spmv::DistributedMatrix matrix = chain();
  const std::vector<spmv::LocalIndex> thread_rows{0, row_count};
  const spmv::HaloPlan plan;
  const LevelMatrix level{.matrix = matrix, .plan = plan, .thread_rows = thread_rows};
  const CouplingRows<float> p = prolongator();
  ProductWindow window(level, p, static_cast<spmv::LocalIndex>(coarse_count), 1,
                       {0, static_cast<std::size_t>(row_count)}, coarse_count);
  int wrong = 0;
  for (std::size_t coarse = 0; coarse < coarse_count; ++coarse) {
    const std::size_t first = 3 * (coarse == 0 ? 0 : coarse - 1);
    std::vector<FineRow> rows;  // all stay while the coarse row is made
    for (std::size_t fine = first; fine < 3 * coarse + 3; ++fine)
      rows.push_back(window.row(fine, coarse));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::map<spmv::LocalIndex, double> found;
      for (const PackedCoupling& entry : rows[i]) found[entry.column()] = entry.value();
      wrong += found != expected_row(matrix, p, first + i);
    }
  }
  CHECK(wrong == 0);
  CHECK(window.room() < 4 * 4096);  // of some 90 000 entries in all
}

}  // namespace
}  // namespace weft::solver::amg
