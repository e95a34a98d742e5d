#include "spmv/modes/task_mode.h"

#include <optional>

#include "spmv/modes/split_product.h"

namespace weft::spmv {

using perfmodel::Phase;
using perfmodel::PhaseScope;

void multiply_in_task_mode(const comm_thread::TeamThread& thread, const Multiplication& product) {
  auto& exchange = product.x.exchange();
  std::optional<comm_thread::Pending> halo;
  {
    const PhaseScope scope(product.timer, thread.index, Phase::pack);
    product.x.pack(thread.index);
    thread.barrier();
    if (thread.is_primary() && exchange.has_neighbours()) {
      halo = exchange.post(product.comm_thread);
      halo->let_begin();
    }
  }
  multiply_while_halo_travels(thread, product, halo, Progress::in_wait);
}

}  // namespace weft::spmv
