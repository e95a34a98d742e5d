#include "spmv/split_product.h"

namespace weft::spmv {

using perfmodel::Phase;

void multiply_while_halo_travels(const comm_thread::TeamThread& thread,
                                 const Multiplication& product,
                                 const std::optional<comm_thread::Pending>& halo) {
  product.multiply(RowSet::interior, thread);
  if (thread.is_primary()) product.timer.lap(Phase::local_part);

  if (product.x.exchange().has_neighbours()) {
    if (halo) halo->wait();
    thread.barrier();
    product.x.unpack(thread);
    if (thread.is_primary()) product.timer.lap(Phase::halo_wait);
  }
  product.multiply(RowSet::boundary, thread);
  if (thread.is_primary()) product.timer.lap(Phase::boundary_part);
}

}  // namespace weft::spmv
