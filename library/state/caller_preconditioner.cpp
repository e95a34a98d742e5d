#include "library/state/caller_preconditioner.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "comm_thread/mpi/communicator.h"

namespace weft::library {

CallerPreconditioner::CallerPreconditioner(const spmv::LinearOperator& op, VectorMap& map,
                                           UserPreconditioner user)
    : element_count_(op.element_count()), map_(map), user_(std::move(user)) {
  if (!map.is_identity()) {
    given_r_ = perfmodel::HugePageBuffer<double>(map.given_count());
    given_z_ = perfmodel::HugePageBuffer<double>(map.given_count());
  }
  norm_ = op.communicator().max(user_.norm);
  if (norm_ > 0) return;
  const std::vector<double> ones(element_count_, 1.0);
  std::vector<double> result(element_count_);
  collective_apply(ones.data(), result.data());
  double largest = 0;
  for (const double value : result) largest = std::max(largest, std::abs(value));
  norm_ = op.communicator().max(largest);
  if (!(norm_ > 0)) norm_ = 1;
}

void CallerPreconditioner::collective_apply(const double* r, double* z) {
  if (map_.is_identity()) {
    user_.apply({r, element_count_}, {z, element_count_});
    return;
  }
  map_.collective_from_operator({r, element_count_}, given_r_.span());
  user_.apply(given_r_.span(), given_z_.span());
  map_.collective_to_operator(given_z_.span(), {z, element_count_});
}

void CallerPreconditioner::apply(const comm_thread::TeamThread& thread, const double* r,
                                 double* z) {
  if (thread.is_primary()) collective_apply(r, z);
  thread.barrier();
}

}  // namespace weft::library
