#pragma once

#include <memory>

#include "perfmodel/phase_times.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/modes/mode.h"
#include "spmv/rows/operand.h"

namespace weft::solver {

/// M is a symmetric matrix: z = M·r is a product. Lifetime: `m` outlives it.
class MatrixPreconditioner final : public Preconditioner {
 public:
  /// Collective. Thread: the main thread, outside the team.
  MatrixPreconditioner(spmv::LinearOperator& m, spmv::Mode mode);

  void apply(const comm_thread::TeamThread& thread, const double* r, double* z) override;
  double norm() const override { return norm_; }
  bool is_symmetric() const override { return true; }

 private:
  spmv::LinearOperator& m_;
  spmv::Mode mode_;
  double norm_;
  std::unique_ptr<spmv::Operand> operand_;
  perfmodel::PhaseTimer timer_;
};

}  // namespace weft::solver
