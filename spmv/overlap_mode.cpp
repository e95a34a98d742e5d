#include "spmv/overlap_mode.h"

namespace weft::spmv {

using perfmodel::Phase;

void multiply_in_overlap_mode(const comm_thread::TeamThread& thread,
                              const Multiplication& product) {
  auto& exchange = product.x.exchange();
  product.x.pack(thread.index);
  thread.barrier();
  if (thread.is_primary()) {
    exchange.start();
    product.timer.lap(Phase::pack);
  }

  product.multiply(RowSet::interior, thread.index);
  if (thread.is_primary()) product.timer.lap(Phase::local_part);

  if (exchange.has_neighbours()) {
    if (thread.is_primary()) exchange.finish();
    thread.barrier();
    if (thread.is_primary()) product.timer.lap(Phase::halo_wait);
  }
  product.multiply(RowSet::boundary, thread.index);
  if (thread.is_primary()) product.timer.lap(Phase::boundary_part);
}

}  // namespace weft::spmv
