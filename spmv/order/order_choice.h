#pragma once

#include <string>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// Rank 0 finds the order, and needs 2 GB for as many; larger matrices keep theirs unless asked.
inline constexpr GlobalIndex most_nonzeros_unasked = 100'000'000;

/// True if another order does not pay for so many rows that are coupled at such a distance:
/// the entries of x stay in the first cache, or the rows are as in a good order of a mesh in space.
bool is_close(double rows, double distance);

/// Whether rows are worth another order.
struct OrderChoice {
  bool has_cuthill_mckee = false;
  std::string why;  // a phrase
};

/// Reverse Cuthill–McKee pays for itself where coupled rows are so far apart that the entries of x
/// do not stay in the first cache, and much further than in a good order of a mesh in space
/// (measured in docs/notes/products.md).
///
/// It depends on the matrix alone. Takes less than the time of a product. Collective; the same on
/// all ranks. Thread: the main thread, outside the team.
OrderChoice collective_choose_order(const comm_thread::Communicator& communicator,
                                    const comm_thread::ComputeTeam& team,
                                    const DistributedMatrix& matrix);

}  // namespace weft::spmv
