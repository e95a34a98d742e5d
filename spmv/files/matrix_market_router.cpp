#include "spmv/files/matrix_market_router.h"

#include <algorithm>
#include <utility>

namespace weft::spmv {
namespace {

constexpr std::size_t round_entries = (1 << 20) / sizeof(MatrixEntry);
/// Entries that one rank can receive if all others send to it alone, for small numbers of ranks.
constexpr std::size_t received_entries = 4 * round_entries;
constexpr std::size_t fewest_per_destination = 1 << 10;

}  // namespace

MatrixMarketRouter::MatrixMarketRouter(const comm_thread::Communicator& communicator,
                                       const RowPartition& partition)
    : communicator_(communicator),
      partition_(partition),
      first_row_(partition.begin(communicator.rank())),
      end_row_(partition.end(communicator.rank())),
      most_per_destination_(
          std::clamp(received_entries / static_cast<std::size_t>(communicator.size()),
                     fewest_per_destination, round_entries)) {}

void MatrixMarketRouter::push(const MatrixEntry& entry) {
  if (entry.row < last_.first_row || entry.row >= last_.end_row) {
    const int owner = partition_.owner(entry.row);
    last_ = {partition_.begin(owner), partition_.end(owner), &entries_[owner]};
  }
  last_.entries->push_back(entry);
  ++count_;
  is_full_ = is_full_ || count_ >= round_entries || last_.entries->size() >= most_per_destination_;
}

comm_thread::Lists<MatrixEntry> MatrixMarketRouter::collective_exchange() {
  last_ = {};
  count_ = 0;
  is_full_ = false;
  return comm_thread::collective_sparse_exchange(communicator_, std::exchange(entries_, {}));
}

}  // namespace weft::spmv
