#pragma once

#include <string>

#include "solver/krylov/method.h"
#include "solver/krylov/method_facts.h"
#include "solver/methods/method_table.h"
#include "solver/report/stop_criterion.h"
#include "spmv/grid/stencil.h"
#include "spmv/modes/linear_operator.h"

namespace weft::library {

/// The method that `auto` stands for.
struct MethodChoice {
  const solver::KrylovEntry* method;
  std::string why;  // a line
  /// True if the method is quicker without the cycle that was made for `auto`.
  bool drops_preconditioner = false;
};

/// True if a trial may choose the method for this use. A reduction that is hidden is little beside
/// a general preconditioner, and such recurrences drift where that is in single precision: 17
/// iterations instead of 7. `has_cycle`: M is a cycle of multigrid with known eigenvalues.
bool is_candidate(const solver::KrylovEntry& entry, const solver::MethodUse& use, bool has_cycle);

/// Constant coefficients on a grid that may have others: a condition number that is at most theirs.
spmv::GridStencil stencil_of(const spmv::GridSize& grid);

/// True if multigrid, by itself or in cg, is so much quicker on this grid that a trial would take
/// longer than the solve.
bool needs_no_trial(const spmv::GridStencil& grid, const solver::StopCriterion& stop);

/// The method that a short trial and the iterations forecast for it show to be quickest, by the
/// slowest rank's time; those that hide a reduction only where there are others to wait for.
///
/// Where no grid is known, `cg` without a trial on one rank, or with a preconditioner that has
/// levels; else trials end at a tenth of the iterations that the first one lets expect.
/// `options`: those of the solve. `may_drop`: nobody asked for the preconditioner of `options`;
/// where it is a cycle of multigrid, methods run without it as well. Collective; the same on all
/// ranks. Thread: the main thread, outside the team.
MethodChoice collective_choose_method(spmv::LinearOperator& op,
                                      solver::KrylovMethod::Options options, bool may_drop);

}  // namespace weft::library
