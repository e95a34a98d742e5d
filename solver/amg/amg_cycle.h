#pragma once

#include <cstddef>
#include <cstdint>

#include "comm_thread/placement/compute_team.h"
#include "solver/amg/coarsening/near_null_space.h"
#include "solver/amg/hierarchy.h"
#include "solver/amg/settings.h"
#include "solver/levels/level_report.h"
#include "solver/levels/levels_preconditioner.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"
#include "spmv/modes/work.h"
#include "spmv/rows/vector_halo.h"

namespace weft::solver::amg {

/// One cycle on a hierarchy: z ≈ A⁻¹·r. The V-cycle is symmetric:
///
///     b ─► x = q(A)·b ─► r = b − A·x ─► Pᵀ·r ─► next level ─► x += P·e ─► r = b − A·x ─► x +=
///     q(A)·r
///
/// q is the smoothing polynomial. With its usual degree of 2 a level multiplies four times with its
/// matrix, and its vectors are read and written in these products only: 4 of A, 1 of P, 1 of Pᵀ,
/// each beside one halo exchange in the mode of the settings.
///
/// A W-cycle corrects each level from the second on twice, which is symmetric as well.
template <class Value>
class Cycle final : public LevelCycle {
 public:
  /// Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError as
  /// Hierarchy. Lifetime: `op` outlives it.
  Cycle(const spmv::SparseOperator& op, const Settings& settings,
        NearNullSpace near_null_space = {});

  double scale() const override { return 1; }
  double largest(const comm_thread::TeamThread& thread, const double* r) const override;
  void collective_begin(const comm_thread::TeamThread& thread, const double* r,
                        double unit) override;
  void collective_end(const comm_thread::TeamThread& thread, double* z, double unit) override;
  bool collective_take_new_values() override { return hierarchy_.collective_take_new_values(); }
  double norm() const override { return hierarchy_.norm(); }
  LevelsReport report() override;
  void forget_times() override;

 private:
  using LevelOf = Level<Value>;

  /// For run_cycle.
  struct Steps {
    int corrections(std::size_t number) const;
    void solve(std::size_t number) const;
    void descend(std::size_t number, bool is_first) const;
    void ascend(std::size_t number, bool is_last) const;

    Cycle& cycle;
    const comm_thread::TeamThread& thread;
  };

  LevelOf& level(std::size_t number) { return *hierarchy_.levels()[number]; }
  /// r = b − A·x, and the right-hand side of the next level from it. In task mode r travels beside
  /// a part of its own computation.
  void compute_and_restrict_residual(const comm_thread::TeamThread& thread, std::size_t number);
  void solve_coarsest(const comm_thread::TeamThread& thread);
  template <bool from_zero>
  void smooth(const comm_thread::TeamThread& thread, LevelOf& level,
              spmv::VectorHalo<Value>& residual);
  template <class Work>
  void for_rows(const comm_thread::TeamThread& thread, const LevelOf& level,
                const Work& work) const;
  /// What takes a product of x: writes r = b − A·x.
  static auto to_residual(LevelOf& level) {
    return [b = level.b.data(), x = level.x.data(), r = level.r.data()](
               spmv::LocalIndex row, Value sum) { r[row] = b[row] - (x[row] + sum); };
  }
  /// Calls run(finish), where finish(row, sum) writes the right-hand side of the level after
  /// `number`, which is in double precision where that is solved directly.
  template <class Run>
  void with_restricted(std::size_t number, const Run& run) {
    LevelOf& next = *hierarchy_.levels()[number + 1];
    if (next.off_diagonal)
      run([b = next.b.data()](spmv::LocalIndex row, Value sum) { b[row] = sum; });
    else
      run([b = hierarchy_.coarsest()->values().data()](spmv::LocalIndex row, Value sum) {
        b[row] = static_cast<double>(sum);
      });
  }
  template <class Finish>
  void multiply(const comm_thread::TeamThread& thread, LevelOf& level,
                const LevelOperator<Value>& op, spmv::VectorHalo<Value>& x, const Finish& finish) {
    op.run(thread, mode_for(x), x, hierarchy_.crew().comm_thread(), level.timer, finish);
  }
  /// The mode of the settings, but for messages so short that to wake the communication thread
  /// takes longer than to send them: where it shares a core, processor time of a solve on two ranks
  /// fell by a sixth.
  spmv::Mode mode_for(const spmv::VectorHalo<Value>& halo) const {
    return settings_.mode == spmv::Mode::task && halo.traffic().is_short() ? spmv::Mode::overlap
                                                                           : settings_.mode;
  }
  /// Who starts an exchange in task mode, by the same rule.
  static spmv::Starter starter_for(const spmv::VectorHalo<Value>& halo) {
    return halo.traffic().is_short() ? spmv::Starter::primary_thread
                                     : spmv::Starter::communication_thread;
  }

  Settings settings_;
  Hierarchy<Value> hierarchy_;
  std::int64_t cycle_count_ = 0;
  double coarsest_seconds_ = 0;  // the primary thread's
};

extern template class Cycle<float>;
extern template class Cycle<double>;

}  // namespace weft::solver::amg
