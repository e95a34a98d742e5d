#include "solver/amg/coarsening/coarse_sums.h"

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include "perfmodel/simd.h"

namespace weft::solver::amg {
namespace {

/// Rows of P and of A·P in blocks of 3, added up by either way.
TEST_CASE("sums of blocks are those of single columns") {
  constexpr std::size_t block = 3;
  CoarseColumns columns(spmv::RowPartition::by_sizes(std::vector<spmv::GlobalIndex>{6, 6}), 0);
  for (const spmv::GlobalIndex column : {9, 10, 11}) columns.meet(column);
  CHECK(are_in_blocks(columns, block));
  CoarseSums single(columns);
  CoarseBlockSums<block> blocks(columns);
  std::vector<Coupling<float>> row;
  std::vector<CouplingBlock<block>> row_in_blocks;
  std::vector<PackedCoupling> product;
  for (const spmv::LocalIndex first : {6, 0, 3}) {
    CouplingBlock<block> made{.place = blocks.place(first)};
    for (spmv::LocalIndex k = 0; k < 3; ++k) {
      const float value = 0.1F * static_cast<float>(first + k) - 0.3F;
      row.push_back({value, first + k});
      made.values[static_cast<std::size_t>(k)] = static_cast<double>(value);
      product.push_back(PackedCoupling({1.0 / (first + k + 1), first + k}));
    }
    row_in_blocks.push_back(made);
  }
  const auto add_all = [&](auto& sums, const auto& of_prolongator) {
    using Row =
        std::span<const typename std::remove_reference_t<decltype(of_prolongator)>::value_type>;
    for (const double weight : {1.5, -0.7}) {
      sums.template add_row<perfmodel::BaselineSimd>(Row(of_prolongator), weight);
      sums.template add_row<perfmodel::BaselineSimd>(std::span<const PackedCoupling>(product),
                                                     3 * weight);
    }
  };
  add_all(single, row);
  add_all(blocks, row_in_blocks);
  std::vector<PackedCoupling> of_single = product;
  std::vector<PackedCoupling> of_blocks = product;
  for (spmv::LocalIndex column = 0; column < 3; ++column)
    CHECK(single.take(single.place(column)) == blocks.take(blocks.place(column)));
  single.take_row(of_single);
  blocks.take_row(of_blocks);
  for (std::size_t k = 0; k < product.size(); ++k) {
    CHECK(of_single[k].value() == of_blocks[k].value());
    CHECK(of_single[k].column() == of_blocks[k].column());
    CHECK((of_single[k].value() != 0) == (of_single[k].column() >= 3));  // taken once
    CHECK(blocks.take(blocks.place(of_blocks[k].column())) == 0);
  }
}

TEST_CASE("columns of others that are met out of order are not in blocks") {
  const auto partition = spmv::RowPartition::by_sizes(std::vector<spmv::GlobalIndex>{6, 6});
  CoarseColumns columns(partition, 0);
  CHECK(are_in_blocks(columns, 3));
  CHECK_FALSE(are_in_blocks(columns, 4));
  columns.meet(10);
  columns.meet(9);
  CHECK_FALSE(are_in_blocks(columns, 3));
  columns.meet(11);
  CHECK_FALSE(are_in_blocks(columns, 3));
}

}  // namespace
}  // namespace weft::solver::amg
