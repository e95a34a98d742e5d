#pragma once

#include <string>

#include "solver/krylov/multigrid_settings.h"

namespace weft::solver {

/// How a method is used: what decides how many vectors it has and how much it computes.
struct MethodUse {
  enum class Kind { none, diagonal, general };

  Kind preconditioner = Kind::none;
  int restart = 30;  // iterations of a cycle, where the method has cycles
  int rank_count = 1;
  MultigridSettings multigrid{};
  bool is_grid = false;  // the operator is a spmv::StencilOperator
  /// The preconditioner is multigrid of that operator, and there are no checkpoints.
  bool shares_cycle = false;

  bool is_plain() const { return preconditioner == Kind::none; }
  bool is_diagonal() const { return preconditioner == Kind::diagonal; }
  bool is_general() const { return preconditioner == Kind::general; }
};

/// What a method needs in one use. Forecasts and reports ask for it before there is an object, and
/// know no method by its name.
struct MethodNeeds {
  /// Name of the state in a checkpoint; with everything that decides what its scalars mean.
  std::string state;
  double arrays = 0;
  double carried = 0;
  double vector_bytes = 0;
  double flops_per_row = 0;
  double flops_per_nonzero = 0;
};

/// What each Krylov method says of itself, as the constant `facts` of its class. Programs read
/// their choices, help texts, checks and forecasts from here, by way of the method table.
struct MethodFacts {
  /// Numbers that depend on M: without one, with a diagonal one, with any other.
  struct ByM {
    double without = 0;
    double diagonal = 0;
    double general = 0;
    double of(const MethodUse& use) const {
      return use.is_plain() ? without : use.is_diagonal() ? diagonal : general;
    }
  };

  const char* name = "";  // on the command line and in reports
  const char* summary = "";  // for help texts
  int reductions = 0;  // an iteration
  int products = 0;  // A·x an iteration that go through memory
  ByM arrays{};  // vectors of the method, with x and without b and the diagonal of M
  ByM carried{};  // vectors that lead from one iteration to the next: those of a checkpoint
  /// Bytes per row and iteration besides the matrix and a general M, if every array is loaded or
  /// stored once in each pass, with write-allocate.
  ByM vector_bytes{};
  ByM flops{};  // per row and iteration, without a general M
  double flops_per_nonzero = 2;  // variants of CG count as CG, so that their rates compare
  bool needs_symmetric_matrix = false;
  bool needs_symmetric_preconditioner = false;
  /// True if the reduction travels beside the product, which pays only with other ranks.
  bool hides_reduction = false;
  /// True if the method does the same in exact arithmetic as `cg`, so that `auto` may choose it.
  bool is_cg_variant = false;
  /// True for GMRES and its like, which begin again after some iterations.
  bool has_restart = false;
  /// True if an object can solve for several right-hand sides at once.
  bool has_blocks = false;
  /// True if the operator must be a spmv::StencilOperator, or the preconditioner a
  /// MultigridPreconditioner.
  bool needs_grid = false;

  /// What a method needs whose numbers depend on M alone. Others have a static function `needs` of
  /// their own.
  MethodNeeds needs(const MethodUse& use) const {
    return {name,          arrays.of(use),   carried.of(use), vector_bytes.of(use),
            flops.of(use), flops_per_nonzero};
  }
};

}  // namespace weft::solver
