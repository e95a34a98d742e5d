#include "solver/krylov/textbook_cg.h"

#include <cmath>

namespace weft::solver {
namespace {

/// The norm that ends the iteration if two steps like the last one, from `before` to `now`, reach
/// it, else 0. `before`: 0 at the first step, which may be the last where M is exact. To look costs
/// a reduction; not to see the end costs an application of M. The bits are the same.
double norm_to_look_for(double before, double now, double wanted) {
  const double rate = before > 0 ? now / before : 0;
  return rate * rate * now <= wanted ? wanted : 0;
}

}  // namespace

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
  double norm_before = 0;
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
    norms.looked_for =
        norm_to_look_for(norm_before, norms.r, options().stop.wanted_norm(first_norm));
    norm_before = norms.r;
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
