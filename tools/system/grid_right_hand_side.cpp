#include "tools/system/grid_right_hand_side.h"

#include <algorithm>

#include "comm_thread/mpi/input_error.h"
#include "perfmodel/phase_times.h"

namespace weft::tools {

using comm_thread::TeamThread;
using spmv::RightHandSideKind;

perfmodel::HugePageBuffer<double> collective_build_grid_right_hand_side(
    Job& job, spmv::GridOperator& op, const spmv::Problem& problem,
    const spmv::RightHandSide& right_hand_side) {
  if (right_hand_side.kind == RightHandSideKind::file)
    throw comm_thread::InputError("--rhs: found the file " + right_hand_side.path +
                                  " with --operator stencil; expected a generated right-hand side, "
                                  "or --operator matrix");
  perfmodel::HugePageBuffer<double> b(op.element_count());
  job.team().run([&](const TeamThread& thread) {
    for (const spmv::Segment& segment : op.segments(thread.index))
      fill_rows(right_hand_side, problem, op.global_row(segment.begin),
                b.span().subspan(segment.begin, static_cast<std::size_t>(segment.count)));
  });
  if (right_hand_side.kind == RightHandSideKind::x_random) {
    const auto x = op.collective_make_operand();
    std::copy_n(b.data(), b.size(), x->values());
    perfmodel::PhaseTimer timer;
    job.team().run([&](const TeamThread& thread) {
      op.apply(thread, spmv::Mode::task, *x, b.data(), timer, {});
    });
  }
  return b;
}

}  // namespace weft::tools
