#include "spmv/order/row_order.h"

#include <utility>

#include "spmv/rows/ask_owners.h"
#include "spmv/rows/row_delivery.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;

/// values[i] to row rows[i]; returns those of the own rows. Collective.
template <class Value>
std::vector<Value> collective_exchange(const Communicator& communicator,
                                       const RowPartition& partition,
                                       std::span<const GlobalIndex> rows,
                                       std::span<const Value> values) {
  const GlobalIndex first_row = partition.begin(communicator.rank());
  std::vector<Value> own(static_cast<std::size_t>(partition.size(communicator.rank())));
  collective_deliver<Value>(communicator, partition, rows, values,
                            [&](GlobalIndex row, Value value) {
                              own[static_cast<std::size_t>(row - first_row)] = value;
                            });
  return own;
}

}  // namespace

RowOrder::RowOrder(const Communicator& communicator, RowPartition given, RowPartition ordered,
                   std::vector<GlobalIndex> new_rows)
    : communicator_(&communicator),
      given_(std::move(given)),
      ordered_(std::move(ordered)),
      new_rows_(std::move(new_rows)) {
  std::vector<GlobalIndex> own(new_rows_.size());
  for (std::size_t i = 0; i < own.size(); ++i)
    own[i] = given_.begin(communicator.rank()) + static_cast<GlobalIndex>(i);
  given_rows_ = collective_exchange<GlobalIndex>(communicator, ordered_, new_rows_, own);
}

std::vector<double> RowOrder::collective_apply(std::span<const double> values) const {
  return collective_exchange<double>(*communicator_, ordered_, new_rows_, values);
}

std::vector<double> RowOrder::collective_undo(std::span<const double> values) const {
  return collective_exchange<double>(*communicator_, given_, given_rows_, values);
}

std::vector<GlobalIndex> RowOrder::collective_new_columns(const DistributedMatrix& matrix) const {
  std::vector<GlobalIndex> new_columns = new_rows_;
  collective_ask_owners<GlobalIndex>(
      *communicator_, given_, matrix.halo_columns,
      [&](GlobalIndex column, std::vector<GlobalIndex>& answers) {
        answers.push_back(new_rows_[static_cast<std::size_t>(column - matrix.first_row())]);
      },
      [&](GlobalIndex column) { new_columns.push_back(column); });
  return new_columns;
}

}  // namespace weft::spmv
