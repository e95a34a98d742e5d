#include "solver/precondition/matrix_preconditioner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace weft::solver {

MatrixPreconditioner::MatrixPreconditioner(spmv::LinearOperator& m, spmv::Mode mode)
    : m_(m), mode_(mode), norm_(m.collective_norm()), operand_(m.collective_make_operand()) {}

void MatrixPreconditioner::apply(const comm_thread::TeamThread& thread, const double* r,
                                 double* z) {
  m_.for_each_segment(thread.index, [&](std::size_t begin, std::int64_t count) {
    std::copy_n(r + begin, count, operand_->values() + begin);
  });
  m_.apply(thread, mode_, *operand_, z, timer_, {});
  thread.barrier();
}

}  // namespace weft::solver
