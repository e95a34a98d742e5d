#pragma once

#include "solver/multigrid/cycle.h"
#include "solver/precondition/preconditioner.h"

namespace weft::solver {

/// A cycle of multigrid as a preconditioner: symmetric.
class CyclePreconditioner : public Preconditioner {
 public:
  bool is_symmetric() const final { return true; }
  bool has_levels() const final { return true; }
  void begin_solve() override { cycle().begin_solve(); }

  virtual Cycle& cycle() = 0;
  /// True if the eigenvalues of the cycle times A are between `cycle().least_eigenvalue()` and 1:
  /// where couplings are the same at all points.
  virtual bool has_known_bounds() const = 0;
};

}  // namespace weft::solver
