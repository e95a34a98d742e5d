#include "spmv/split_product.h"

namespace weft::spmv {

using perfmodel::Phase;
using perfmodel::PhaseScope;

void multiply_while_halo_travels(const comm_thread::TeamThread& thread,
                                 const Multiplication& product,
                                 const std::optional<comm_thread::Pending>& halo) {
  {
    const PhaseScope scope(product.timer, thread.index, Phase::local_part);
    product.multiply(RowSet::interior, thread);
  }
  if (product.x.exchange().has_neighbours()) {
    const PhaseScope scope(product.timer, thread.index, Phase::halo_wait);
    if (halo) halo->wait();
    thread.barrier();
    product.x.unpack(thread);
  }
  const PhaseScope scope(product.timer, thread.index, Phase::boundary_part);
  product.multiply(RowSet::boundary, thread);
}

}  // namespace weft::spmv
