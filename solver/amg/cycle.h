#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "solver/amg/coarsening/near_null_space.h"
#include "solver/amg/hierarchy.h"
#include "solver/amg/hierarchy_report.h"
#include "solver/amg/settings.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver::amg {

/// One V-cycle on a hierarchy: z ≈ A⁻¹·r, symmetric.
///
///     b ─► x = q(A)·b ─► r = b − A·x ─► Pᵀ·r ─► next level ─► x += P·e ─► r = b − A·x ─► x +=
///     q(A)·r
///
/// q is the smoothing polynomial. With its usual degree of 2 a level multiplies four times with its
/// matrix, and its vectors are read and written in these products only: 4 of A, 1 of P, 1 of Pᵀ,
/// each beside one halo exchange in the mode of the settings.
template <class Value>
class Cycle {
 public:
  /// Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError as
  /// Hierarchy. Lifetime: `op` outlives it.
  Cycle(const spmv::SparseOperator& op, const Settings& settings,
        NearNullSpace near_null_space = {});

  /// Shape: r, z: [own rows]; they differ. Thread: every thread of the team, after all wrote r and
  /// met in a barrier; ends with a barrier. Collective. Throws comm_thread::MpiError.
  void apply(const comm_thread::TeamThread& thread, const double* r, double* z);

  double norm() const { return hierarchy_.norm(); }
  HierarchyReport report() const;
  /// Times count from now on.
  void forget_times();

 private:
  using LevelOf = Level<Value>;

  void collective_choose_unit(const comm_thread::TeamThread& thread, const double* r);
  void take(const comm_thread::TeamThread& thread, const double* r);
  void give(const comm_thread::TeamThread& thread, double* z);
  void descend(const comm_thread::TeamThread& thread, std::size_t number);
  void ascend(const comm_thread::TeamThread& thread, std::size_t number);
  void solve_coarsest(const comm_thread::TeamThread& thread);
  void compute_residual(const comm_thread::TeamThread& thread, LevelOf& level);
  template <bool from_zero>
  void smooth(const comm_thread::TeamThread& thread, LevelOf& level, LevelHalo<Value>& residual);
  template <class Work>
  void for_rows(const comm_thread::TeamThread& thread, const LevelOf& level,
                const Work& work) const;
  template <class Finish>
  void multiply(const comm_thread::TeamThread& thread, LevelOf& level,
                const LevelOperator<Value>& op, LevelHalo<Value>& x, const Finish& finish) {
    op.run(thread, settings_.mode, x, hierarchy_.crew().comm_thread(), level.timer, finish);
  }

  Settings settings_;
  Hierarchy<Value> hierarchy_;
  std::vector<double> largest_;  // by thread
  /// A power of two by which right-hand sides are multiplied, so that they stay in the range of
  /// single precision: 0 before the first one that is not zero.
  double unit_ = 0;
  std::int64_t cycle_count_ = 0;
  double coarsest_seconds_ = 0;  // the primary thread's
};

extern template class Cycle<float>;
extern template class Cycle<double>;

}  // namespace weft::solver::amg
