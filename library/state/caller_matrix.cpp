#include "library/state/caller_matrix.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"

namespace weft::library {
namespace {

using spmv::GlobalIndex;
using spmv::RowPartition;

/// The partition that cuts nearest to `given` and between row blocks only.
RowPartition aligned(const RowPartition& given) {
  const GlobalIndex block = RowPartition::block_size(given.row_count());
  const auto nearest = [&](GlobalIndex row) {
    return row == given.row_count()
               ? row
               : std::min((row + block / 2) / block * block, given.row_count());
  };
  std::vector<GlobalIndex> sizes;
  for (int rank = 0; rank < given.rank_count(); ++rank)
    sizes.push_back(nearest(given.end(rank)) - nearest(given.begin(rank)));
  return RowPartition::by_sizes(sizes);
}

}  // namespace

void CallerMatrix::collective_deal_rows(std::int64_t row_count) {
  given_ =
      std::make_unique<RowPartition>(RowPartition::by_sizes(communicator_.all_gather(row_count)));
  moved_ = std::make_unique<RowPartition>(aligned(*given_));
  moves_ = false;
  for (int rank = 0; rank < given_->rank_count(); ++rank)
    moves_ = moves_ || given_->begin(rank) != moved_->begin(rank);
}

void CallerMatrix::fault(const std::string& text) const {
  throw comm_thread::InputError(fmt::format("rows of rank {}: {}", communicator_.rank(), text));
}

}  // namespace weft::library
