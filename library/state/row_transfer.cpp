#include "library/state/row_transfer.h"

#include <cstddef>
#include <utility>

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

/// Takes rows out of a list of their lengths and columns.
void append_places(const std::vector<GlobalIndex>& places, ReceivedRows& rows) {
  for (auto at = places.begin(); at != places.end();) {
    const auto columns = at + 1;
    at = columns + *at;
    rows.columns.insert(rows.columns.end(), columns, at);
    rows.offsets.push_back(std::ssize(rows.columns));
  }
}

}  // namespace

RowTransfer::RowTransfer(const comm_thread::Communicator& communicator, std::int64_t row_count)
    : communicator_(communicator),
      given_(RowPartition::by_sizes(communicator.all_gather(row_count))),
      moved_(aligned(given_)) {
  for (int rank = 0; rank < given_.rank_count(); ++rank)
    moves_ = moves_ || given_.begin(rank) != moved_.begin(rank);
}

FromBothSides<ReceivedRows> RowTransfer::collective_exchange(ParcelsOfRows parcels) const {
  FromBothSides<ReceivedRows> received;
  if (!moves_) return received;
  for (const auto& [source, places] :
       comm_thread::collective_sparse_exchange(communicator_, std::move(parcels.places)))
    append_places(places, source < rank() ? received.before : received.behind);
  auto values = collective_exchange(std::move(parcels.values));
  received.before.values = std::move(values.before);
  received.behind.values = std::move(values.behind);
  return received;
}

FromBothSides<std::vector<double>> RowTransfer::collective_exchange(
    comm_thread::Lists<double> values) const {
  FromBothSides<std::vector<double>> received;
  if (!moves_) return received;
  for (auto& [source, list] :
       comm_thread::collective_sparse_exchange(communicator_, std::move(values))) {
    std::vector<double>& side = source < rank() ? received.before : received.behind;
    if (side.empty())
      side = std::move(list);
    else
      side.insert(side.end(), list.begin(), list.end());
  }
  return received;
}

}  // namespace weft::library
