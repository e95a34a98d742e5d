#include "library/measure/settled_storage.h"

#include <cstdint>
#include <limits>

#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"

namespace weft::library {

void collective_settle_storage(const comm_thread::Job& job, spmv::LinearOperator& op) {
  const int own = op.expect_products(std::numeric_limits<std::int64_t>::max());
  const std::int64_t products = job.world().max(std::int64_t{own});
  if (products == 0) return;
  const auto x = op.collective_make_operand();
  perfmodel::HugePageBuffer<double> y(op.element_count());
  perfmodel::PhaseTimer timer;
  op.team().run([&](const comm_thread::TeamThread& thread) {
    op.for_each_element(thread.index, [&](std::size_t i) { x->values()[i] = 1; });
    for (std::int64_t i = 0; i < products; ++i)
      op.apply(thread, spmv::Mode::vector, *x, y.data(), timer, {});
  });
}

}  // namespace weft::library
