#include "solver/multigrid/preconditioned_semi_iteration.h"

#include <cmath>
#include <utility>

#include "solver/krylov/fused_vector_kernels.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;

PreconditionedSemiIteration::PreconditionedSemiIteration(spmv::LinearOperator& op, Options options)
    : KrylovMethod(op, std::move(options)),
      bounds_(collective_spectrum_bounds(
          op, this->options().mode,
          dynamic_cast<MultigridPreconditioner&>(*this->options().preconditioner))),
      squares_(op.communicator(), op.comm_thread(), op.team().thread_count(), 1),
      d_(collective_make_operand()) {
  r_ = make_array();
  q_ = make_array();
  z_ = make_array();
}

void PreconditionedSemiIteration::collective_begin(const TeamThread& thread, const Solve& solve,
                                                   const double* product) {
  subtract(thread, solve.b, product, r_.data());
  fill_zero(thread, {d_->values(), q_.data()});
  thread.barrier();
}

double PreconditionedSemiIteration::collective_norm(const TeamThread& thread,
                                                    spmv::BinnedSum& square) {
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  square.flush(squares_.part(thread.index));
  squares_.collective_reduce(thread);
  return std::sqrt(squares_.result());
}

/// z = M·r, d and x.
void PreconditionedSemiIteration::advance(const TeamThread& thread,
                                          const SemiIteration::Step& step) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  thread.barrier();
  general()->apply(thread, r_.data(), z_.data());
  double* const d = d_->values();
  for_each_element(thread, [&](std::size_t i) {
    d[i] = step.old * d[i] + step.fresh * z_[i];
    x_[i] += d[i];
  });
}

void PreconditionedSemiIteration::collective_iterate(const TeamThread& thread, Solves solves) {
  Solve& solve = solves.front();
  SemiIteration outer(bounds_.least, bounds_.most);
  double norm = 0;
  const auto carry = [&](Carry direction) {
    collective_carry(thread, direction, solve, {&norm, &outer.carried()}, carried());
  };
  if (is_continued()) {
    carry(Carry::restore);
  } else {
    spmv::BinnedSum first(solve.bound);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      add_square(r_.data() + i, count, first);
    });
    norm = collective_norm(thread, first);
  }
  solve.know_first_norm(norm);
  while (solve.goes_on()) {
    advance(thread, outer.next());
    op().apply(thread, options().mode, *d_, q_.data(), timer_, {});
    thread.barrier();  // others have written rows of q
    spmv::BinnedSum square(norm * norm);
    {
      const PhaseScope scope(timer_, thread.index, Phase::vector_update);
      for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
        update_solution(-1, q_.data() + i, r_.data() + i, count);
        add_square(r_.data() + i, count, square);
      });
    }
    norm = collective_norm(thread, square);
    ++solve.report.iterations;
    note(thread, norm, solve);
    if (is_checkpoint_due(solve.report)) carry(Carry::keep);
  }
}

}  // namespace weft::solver
