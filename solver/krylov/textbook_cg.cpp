#include "solver/krylov/textbook_cg.h"

#include <cmath>

namespace weft::solver {

void TextbookCg::collective_iterate(const comm_thread::TeamThread& thread,
                                    std::span<const double> /*b*/, double bound, double& first_norm,
                                    SolveReport& report) {
  Norms norms;
  Step last;
  const auto carry = [&](Carry direction) {
    collective_carry_all(
        thread, direction, first_norm, report,
        {&norms.r, &norms.r_dot_z, &norms.p, &norms.z_dot_q, &last.alpha, &last.beta,
         &fitted_.bound(thread, sum_rz).excess(), &fitted_.bound(thread, sum_rz).cancelled(),
         &fitted_.bound(thread, sum_zq).excess(), &fitted_.bound(thread, sum_zq).cancelled(),
         &fitted_.bound(thread, sum_pq).excess(), &fitted_.bound(thread, sum_pq).cancelled()});
  };
  fitted_.reset(thread);
  if (is_continued())
    carry(Carry::restore);
  else
    norms = collective_start(thread, bound);
  if (first_norm < 0) {
    first_norm = norms.r;
    report = start_report(first_norm * first_norm, bound);
  }
  while (report.status == SolveStatus::not_converged &&
         report.iterations < options().stop.max_iterations) {
    norms.p = preconditioner_norm() * norms.r + std::abs(last.beta) * norms.p;
    const double curvature = collective_advance(thread, last, norms);
    if (!(curvature > 0)) {
      report.status = SolveStatus::breakdown;
      report.explanation = explain_curvature(curvature);
      return;
    }
    last.alpha = norms.r_dot_z / curvature;
    Norms next = collective_update_residual(thread, last.alpha, norms);
    last.beta = beta(last.alpha, norms, next);
    next.p = norms.p;
    norms = next;
    ++report.iterations;
    if (thread.is_primary() && options().on_step) options().on_step(last.alpha, last.beta);
    note(thread, norms.r, first_norm, report);
    if (is_checkpoint_due(report)) carry(Carry::keep);
  }
  finish(thread, last.alpha);
}

}  // namespace weft::solver
