#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "library/options/matrix_settings.h"
#include "spmv/order/row_order.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::library {

/// What an order of the rows gains.
struct OrderingGains {
  std::int64_t bandwidth_given = 0;  // the largest distance of an entry from the diagonal
  std::int64_t bandwidth = 0;
  std::int64_t halo_bytes_given = 0;  // that all ranks together receive for a product
  std::int64_t halo_bytes = 0;
  double seconds = 0;  // to find the order and to move the rows, of the slowest rank
};

/// An order of the rows, and what was said when it was chosen.
struct RowOrdering {
  std::optional<spmv::RowOrder> order{};  // none: the rows as given
  OrderingGains gains{};  // of the order
  bool has_cuthill_mckee = false;
  std::string partition{};  // the word by which the rows were cut
  std::string why{};  // where the order was chosen, a phrase

  /// The word of the option that asks for such an order.
  std::string word() const { return has_cuthill_mckee ? "rcm" : "given"; }
};

/// A matrix in the order in which it is worked on.
struct OrderedMatrix : RowOrdering {
  spmv::DistributedMatrix matrix;
};

/// Orders the rows as `settings` ask for: `order`: given, rcm, or auto, which is rcm where it pays
/// for itself (spmv::collective_choose_order); `partition`: rows, nonzeros or metis. Rows of
/// a node, as the pattern shows them, stay together. `name`: of the matrix, begins messages; may be
/// empty. Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError on
/// every rank. Lifetime: `communicator` outlives the order.
OrderedMatrix collective_order_matrix(const comm_thread::Communicator& communicator,
                                      const comm_thread::ComputeTeam& team,
                                      spmv::DistributedMatrix given, const MatrixSettings& settings,
                                      const std::string& name);

/// The number of a row as given, from its number in the order. Collective; the same on all ranks.
spmv::GlobalIndex collective_given_row(const comm_thread::Communicator& communicator,
                                       const spmv::RowOrder& order, spmv::GlobalIndex row);

}  // namespace weft::library
