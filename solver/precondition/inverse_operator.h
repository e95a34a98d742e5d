#pragma once

#include "comm_thread/placement/compute_team.h"

namespace weft::solver {

/// A preconditioner: z = M·r, M about A⁻¹, on vectors of the shape of a spmv::LinearOperator.
class InverseOperator {
 public:
  virtual ~InverseOperator() = default;

  /// Shape: r, z: [element_count]; they differ. Thread: every thread of the team; r has been
  /// written, by all, before a barrier; ends with one. Collective. Throws comm_thread::MpiError.
  virtual void apply(const comm_thread::TeamThread& thread, const double* r, double* z) = 0;

  /// About ‖M‖, the same on all ranks: from it sums know to which bits they have to be exact.
  virtual double norm() const = 0;

  /// Whether M is symmetric, as conjugate gradients need it.
  virtual bool is_symmetric() const = 0;
};

}  // namespace weft::solver
