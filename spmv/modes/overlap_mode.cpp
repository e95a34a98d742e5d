#include "spmv/modes/overlap_mode.h"

#include <optional>

namespace weft::spmv {

using perfmodel::Phase;
using perfmodel::PhaseScope;

void multiply_in_overlap_mode(const comm_thread::TeamThread& thread, const Multiplication& product,
                              Progress progress) {
  auto& exchange = product.x.exchange();
  std::optional<comm_thread::Pending> halo;
  {
    const PhaseScope scope(product.timer, thread.index, Phase::pack);
    product.x.pack(thread.index);
    thread.barrier();
    if (thread.is_primary() && exchange.has_neighbours())
      halo = exchange.start_here(product.comm_thread);
  }
  multiply_while_halo_travels(thread, product, halo, progress);
}

}  // namespace weft::spmv
