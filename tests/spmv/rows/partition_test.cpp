#include "spmv/rows/partition.h"

#include <bit>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

TEST_CASE("blocks are powers of two from 8 to 4096, single rows for small matrices") {
  CHECK(RowPartition::block_size(1) == 1);
  CHECK(RowPartition::block_size(1023) == 1);
  CHECK(RowPartition::block_size(1024) == 8);
  CHECK(RowPartition::block_size(16383) == 8);
  CHECK(RowPartition::block_size(16384) == 16);
  CHECK(RowPartition::block_size(2000000) == 1024);
  CHECK(RowPartition::block_size(8000000) == 4096);
  CHECK(RowPartition::block_size(GlobalIndex{1} << 40) == 4096);
  for (GlobalIndex rows = 1024; rows < GlobalIndex{1} << 30; rows = rows * 5 / 4)
    CHECK(std::has_single_bit(static_cast<std::uint64_t>(RowPartition::block_size(rows))));
}

TEST_CASE("blocks cover all rows, the last one may be short") {
  CHECK(RowPartition::block_count(6) == 6);
  CHECK(RowPartition::block_count(1024) == 128);
  CHECK(RowPartition::block_count(1025) == 129);
}

void check_tiles(const RowPartition& partition, GlobalIndex row_count, int rank_count) {
  CHECK(partition.row_count() == row_count);
  CHECK(partition.rank_count() == rank_count);
  CHECK(partition.begin(0) == 0);
  CHECK(partition.end(rank_count - 1) == row_count);
  const GlobalIndex block = RowPartition::block_size(row_count);
  for (int rank = 0; rank < rank_count; ++rank) {
    CHECK(partition.size(rank) >= 0);
    CHECK((partition.end(rank) % block == 0 || partition.end(rank) == row_count));
    if (rank > 0) CHECK(partition.begin(rank) == partition.end(rank - 1));
    if (partition.size(rank) == 0) continue;
    CHECK(partition.owner(partition.begin(rank)) == rank);
    CHECK(partition.owner(partition.end(rank) - 1) == rank);
  }
}

TEST_CASE("ranks own about as many rows each, cut between blocks") {
  for (const GlobalIndex rows : {1, 6, 1000, 1024, 1030, 100001, 8000000})
    for (const int ranks : {1, 2, 3, 4, 7, 64}) {
      CAPTURE(rows, ranks);
      const RowPartition partition = RowPartition::by_rows(rows, ranks);
      check_tiles(partition, rows, ranks);
      const GlobalIndex block = RowPartition::block_size(rows);
      for (int rank = 0; rank < ranks; ++rank) {
        CHECK(partition.size(rank) <= rows / ranks + 2 * block);
        CHECK(partition.size(rank) >= rows / ranks - 2 * block);
      }
    }
}

TEST_CASE("the six rows of the example are cut in the middle") {
  const RowPartition partition = RowPartition::by_rows(6, 2);
  CHECK(partition.end(0) == 3);
  CHECK(partition.owner(2) == 0);
  CHECK(partition.owner(3) == 1);
}

TEST_CASE("with fewer blocks than ranks some ranks own nothing") {
  const RowPartition partition = RowPartition::by_rows(3, 8);
  check_tiles(partition, 3, 8);
  GlobalIndex owned = 0;
  for (int rank = 0; rank < 8; ++rank) owned += partition.size(rank);
  CHECK(owned == 3);
}

TEST_CASE("by nonzeros, ranks own about as many nonzeros each") {
  // Half of the nonzeros are in the first tenth of the rows.
  const GlobalIndex rows = 100000;
  const GlobalIndex block = RowPartition::block_size(rows);
  std::vector<GlobalIndex> nonzeros;
  GlobalIndex all = 0;
  for (GlobalIndex row = 0; row < rows; row += block) {
    nonzeros.push_back(row < rows / 10 ? 9 * block : block);
    all += nonzeros.back();
  }
  for (const int ranks : {1, 2, 3, 5, 16}) {
    CAPTURE(ranks);
    const RowPartition partition = RowPartition::by_nonzeros(rows, ranks, nonzeros);
    check_tiles(partition, rows, ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      GlobalIndex own = 0;
      for (GlobalIndex row = partition.begin(rank); row < partition.end(rank); row += block)
        own += nonzeros[static_cast<std::size_t>(row / block)];
      CHECK(own <= all / ranks + 9 * block);
      CHECK(own >= all / ranks - 9 * block);
    }
  }
}

TEST_CASE("all nonzeros in one block, or none at all, still give a partition") {
  std::vector<GlobalIndex> nonzeros(6, 0);
  check_tiles(RowPartition::by_nonzeros(6, 3, nonzeros), 6, 3);
  nonzeros[4] = 100;
  check_tiles(RowPartition::by_nonzeros(6, 3, nonzeros), 6, 3);
}

}  // namespace
}  // namespace weft::spmv
