#include "spmv/task_mode.h"

#include <optional>

namespace weft::spmv {

using perfmodel::Phase;

void multiply_in_task_mode(const comm_thread::TeamThread& thread, const Multiplication& product) {
  auto& exchange = product.x.exchange();
  product.x.pack(thread.index);
  thread.barrier();
  std::optional<comm_thread::Pending> halo;
  if (thread.is_primary()) {
    if (exchange.has_neighbours()) halo = exchange.post(product.comm_thread);
    product.timer.lap(Phase::pack);
  }

  product.multiply(RowSet::interior, thread.index);
  if (thread.is_primary()) product.timer.lap(Phase::local_part);

  if (exchange.has_neighbours()) {
    if (halo) halo->wait();
    thread.barrier();
    if (thread.is_primary()) product.timer.lap(Phase::halo_wait);
  }
  product.multiply(RowSet::boundary, thread.index);
  if (thread.is_primary()) product.timer.lap(Phase::boundary_part);
}

}  // namespace weft::spmv
