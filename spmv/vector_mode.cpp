#include "spmv/vector_mode.h"

namespace weft::spmv {

using perfmodel::Phase;

void multiply_in_vector_mode(const comm_thread::TeamThread& thread, const Multiplication& product) {
  auto& exchange = product.x.exchange();
  product.x.pack(thread.index);
  thread.barrier();
  if (thread.is_primary()) product.timer.lap(Phase::pack);
  if (exchange.has_neighbours()) {
    if (thread.is_primary()) exchange.start_here(product.comm_thread).wait();
    thread.barrier();
    product.x.unpack(thread);
    if (thread.is_primary()) product.timer.lap(Phase::halo_wait);
  }

  product.multiply(RowSet::all, thread);
  if (thread.is_primary()) product.timer.lap(Phase::local_part);
}

}  // namespace weft::spmv
