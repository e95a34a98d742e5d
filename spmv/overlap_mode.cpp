#include "spmv/overlap_mode.h"

#include <optional>

#include "spmv/split_product.h"

namespace weft::spmv {

using perfmodel::Phase;

void multiply_in_overlap_mode(const comm_thread::TeamThread& thread,
                              const Multiplication& product) {
  auto& exchange = product.x.exchange();
  product.x.pack(thread.index);
  thread.barrier();
  std::optional<comm_thread::Pending> halo;
  if (thread.is_primary()) {
    if (exchange.has_neighbours()) halo = exchange.start_here(product.comm_thread);
    product.timer.lap(Phase::pack);
  }
  multiply_while_halo_travels(thread, product, halo);
}

}  // namespace weft::spmv
