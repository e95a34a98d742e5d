#include "solver/methods/deflated_solve.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "perfmodel/huge_page_buffer.h"

namespace weft::solver {

SolveReport collective_solve_deflated(KrylovMethod& method, NullSpace& null_space,
                                      bool is_symmetric, const StopCriterion& stop,
                                      std::span<const double> b, const Guess& guess) {
  if (!is_symmetric) return method.solve(b, guess);
  const spmv::SparseOperator& op = null_space.op();
  perfmodel::HugePageBuffer<double> reachable(b.size());
  double taken = 0;
  op.team().run([&](const comm_thread::TeamThread& thread) {
    op.for_each_element(thread.index, [&](std::size_t i) { reachable[i] = b[i]; });
    const double share = null_space.collective_project(thread, reachable.data());
    if (thread.is_primary()) taken = std::abs(share);
  });
  const double whole = null_space.collective_norm(b);
  const double rest = null_space.collective_norm(reachable.span());
  // What is left of a b in the null space is rounding, which no method can solve for.
  constexpr double least_share = 1e-14;
  if (rest <= least_share * whole) std::ranges::fill(reachable.span(), 0.0);
  SolveReport report = method.solve(reachable.span(), guess);
  if (!(whole > 0)) return report;
  const double share = taken / whole;
  report.relative_residual = std::hypot(report.relative_residual * rest / whole, share);
  if (taken <= stop.wanted_norm(whole) || report.status != SolveStatus::converged) return report;
  report.status = SolveStatus::not_converged;
  report.explanation = fmt::format(
      "{:.3g} of b lies in the null space of the matrix, where no x leads: this x leaves the least "
      "residual",
      share);
  return report;
}

}  // namespace weft::solver
