#include "spmv/modes/vector_mode.h"

namespace weft::spmv {

using perfmodel::Phase;
using perfmodel::PhaseScope;

void multiply_in_vector_mode(const comm_thread::TeamThread& thread, const Multiplication& product) {
  auto& exchange = product.x.exchange();
  {
    const PhaseScope scope(product.timer, thread.index, Phase::pack);
    product.x.pack(thread.index);
    thread.barrier();
  }
  if (exchange.has_neighbours()) {
    const PhaseScope scope(product.timer, thread.index, Phase::halo_wait);
    if (thread.is_primary()) exchange.start_here(product.comm_thread).wait();
    thread.barrier();
    product.x.unpack(thread);
  }
  const PhaseScope scope(product.timer, thread.index, Phase::local_part);
  product.multiply(RowSet::all, thread);
}

}  // namespace weft::spmv
