#include "library/system/ordered_matrix.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "comm_thread/mpi/input_error.h"
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

OrderedMatrix collective_order(const comm_thread::Communicator& communicator,
                               const comm_thread::ComputeTeam& team, spmv::DistributedMatrix given,
                               const MatrixSettings& settings) {
  const perfmodel::Stopwatch watch;
  spmv::OrderChoice chosen{settings.order == "rcm", ""};
  if (settings.order == "auto") chosen = spmv::collective_choose_order(communicator, team, given);
  spmv::OrderingChoice choice{.has_cuthill_mckee = chosen.has_cuthill_mckee,
                              .has_graph_partition = settings.partition == "metis",
                              .partition_by = settings.parsed_partition()};
  RowOrdering ordering{.partition = settings.partition, .why = std::move(chosen.why)};
  if (!choice.has_cuthill_mckee && !choice.has_graph_partition)
    return {std::move(ordering), std::move(given)};
  choice.node_size = spmv::collective_find_node_size(communicator, given);
  ordering.has_cuthill_mckee = choice.has_cuthill_mckee;
  ordering.order = spmv::collective_order_rows(communicator, team, given, choice);
  auto matrix = spmv::collective_reorder(communicator, team, given, *ordering.order);
  const double seconds = communicator.max(watch.seconds());
  ordering.gains = {.bandwidth_given = spmv::collective_bandwidth(communicator, team, given),
                    .bandwidth = spmv::collective_bandwidth(communicator, team, matrix),
                    .halo_bytes_given = collective_halo_bytes(communicator, given),
                    .halo_bytes = collective_halo_bytes(communicator, matrix),
                    .seconds = seconds};
  return {std::move(ordering), std::move(matrix)};
}

}  // namespace

OrderedMatrix collective_order_matrix(const comm_thread::Communicator& communicator,
                                      const comm_thread::ComputeTeam& team,
                                      spmv::DistributedMatrix given, const MatrixSettings& settings,
                                      const std::string& name) {
  try {
    return collective_order(communicator, team, std::move(given), settings);
  } catch (const comm_thread::InputError& error) {
    if (name.empty()) throw;
    throw comm_thread::InputError(name + ": " + error.what());
  }
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
