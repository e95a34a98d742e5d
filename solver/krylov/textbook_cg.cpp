#include "solver/krylov/textbook_cg.h"

#include <cmath>

#include <fmt/format.h>

namespace weft::solver {

/// Every thread computes the same `report`.
SolveReport TextbookCg::solve_in_team(const comm_thread::TeamThread& thread,
                                      std::span<const double> b) {
  const double bound = collective_bound_square(thread, b);
  timer_.start(thread.index);
  Norms norms = collective_start(thread, b, bound);
  Step last;
  const double first_norm = norms.r;
  SolveReport report = start_report(first_norm * first_norm, bound);
  while (report.status == SolveStatus::not_converged &&
         report.iterations < options().stop.max_iterations) {
    norms.p = inverse_norm() * norms.r + std::abs(last.beta) * norms.p;
    const double curvature = collective_advance(thread, last, norms);
    if (!(curvature > 0)) {
      report.status = SolveStatus::breakdown;
      report.explanation = fmt::format(
          "p·A·p = {:.3g} is not positive: the matrix is not positive definite, or nothing but "
          "rounding is left to iterate on",
          curvature);
      return report;
    }
    last.alpha = norms.r_dot_z / curvature;
    Norms next = collective_update_residual(thread, last.alpha, norms);
    last.beta = (is_flexible() ? -last.alpha * next.z_dot_q : next.r_dot_z) / norms.r_dot_z;
    next.p = norms.p;
    norms = next;
    ++report.iterations;
    note(thread, norms.r, first_norm, report);
  }
  finish(thread, last.alpha);
  return report;
}

}  // namespace weft::solver
