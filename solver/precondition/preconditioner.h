#pragma once

#include "comm_thread/placement/compute_team.h"

namespace weft::solver {

class DiagonalPreconditioner;

/// A preconditioner: z = M·r, M ≈ A⁻¹, on vectors of the shape of a spmv::LinearOperator.
///
/// A method takes a pointer to one; null stands for the identity. The identity and the diagonal are
/// fused into the kernels of a method, which then never calls `apply`; any other M is general.
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;

  /// Shape: r, z: [element_count]; they differ. Thread: every thread of the team; r has been
  /// written, by all, before a barrier; ends with one. Collective. Throws comm_thread::MpiError.
  virtual void apply(const comm_thread::TeamThread& thread, const double* r, double* z) = 0;

  /// Vectors that a method solves for at once, at most.
  static constexpr int most_vectors = 8;

  /// The same for number `vector` of those that are solved for at once, each of which has a
  /// magnitude of its own.
  virtual void apply_to(const comm_thread::TeamThread& thread, int /*vector*/, const double* r,
                        double* z) {
    apply(thread, r, z);
  }

  /// Is called before each solve, whose right-hand side may have another magnitude than the last.
  /// Thread: the main thread, outside the team.
  virtual void begin_solve() {}

  /// Adapts M to new values of its matrix, whose pattern is the same. False: M has to be made
  /// again. Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError
  /// on every rank.
  virtual bool collective_take_new_values() { return false; }

  /// Estimate of ‖M‖, the same on all ranks; sums derive from it how many bits they keep.
  virtual double norm() const = 0;

  /// True if M is symmetric, which conjugate gradients require.
  virtual bool is_symmetric() const = 0;

  /// True if an application exchanges so much that a reduction beside it hardly counts.
  virtual bool has_levels() const { return false; }

  /// This object if M is a diagonal matrix, else null.
  virtual const DiagonalPreconditioner* as_diagonal() const { return nullptr; }
};

}  // namespace weft::solver
