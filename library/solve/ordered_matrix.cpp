#include "library/solve/ordered_matrix.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "perfmodel/stopwatch.h"
#include "spmv/order/order_choice.h"
#include "spmv/order/reordering.h"
#include "spmv/order/row_move.h"
#include "spmv/rows/node_pattern.h"

namespace weft::library {
namespace {

std::int64_t collective_halo_bytes(const comm_thread::Communicator& communicator,
                                   const spmv::DistributedMatrix& matrix) {
  return communicator.sum(std::ssize(matrix.halo_columns)) *
         static_cast<std::int64_t>(sizeof(double));
}

}  // namespace

OrderedMatrix collective_order_matrix(const comm_thread::Communicator& communicator,
                                      const comm_thread::ComputeTeam& team,
                                      spmv::DistributedMatrix given, const std::string& order_word,
                                      const std::string& partition) {
  const perfmodel::Stopwatch watch;
  spmv::OrderChoice chosen{order_word == "rcm", ""};
  if (order_word == "auto") chosen = spmv::collective_choose_order(communicator, given);
  spmv::OrderingChoice choice{.has_cuthill_mckee = chosen.has_cuthill_mckee,
                              .has_graph_partition = partition == "metis",
                              .partition_by = partition == "nonzeros" ? spmv::PartitionBy::nonzeros
                                                                      : spmv::PartitionBy::rows};
  if (!choice.has_cuthill_mckee && !choice.has_graph_partition)
    return {std::move(given), std::nullopt, {}, false, std::move(chosen.why)};
  choice.node_size = spmv::collective_find_node_size(communicator, given);
  auto order = spmv::collective_order_rows(communicator, given, choice);
  auto matrix = spmv::collective_reorder(communicator, team, given, order);
  const double seconds = communicator.max(watch.seconds());
  const OrderingGains gains{.bandwidth_given = spmv::collective_bandwidth(communicator, given),
                            .bandwidth = spmv::collective_bandwidth(communicator, matrix),
                            .halo_bytes_given = collective_halo_bytes(communicator, given),
                            .halo_bytes = collective_halo_bytes(communicator, matrix),
                            .seconds = seconds};
  return {std::move(matrix), std::move(order), gains, choice.has_cuthill_mckee,
          std::move(chosen.why)};
}

spmv::GlobalIndex collective_given_row(const comm_thread::Communicator& communicator,
                                       const spmv::RowOrder& order, spmv::GlobalIndex row) {
  const int rank = communicator.rank();
  std::vector<double> numbers(static_cast<std::size_t>(order.given().size(rank)));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<double>(order.given().begin(rank)) + static_cast<double>(i);
  numbers = order.collective_apply(numbers);
  const bool is_own = order.ordered().owner(row) == rank;
  const double own =
      is_own ? numbers[static_cast<std::size_t>(row - order.ordered().begin(rank))] : -1;
  return static_cast<spmv::GlobalIndex>(communicator.max(own));
}

}  // namespace weft::library
