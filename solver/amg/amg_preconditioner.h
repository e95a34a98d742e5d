#pragma once

#include <memory>
#include <variant>

#include "comm_thread/placement/compute_team.h"
#include "solver/amg/amg_cycle.h"
#include "solver/amg/coarsening/near_null_space.h"
#include "solver/amg/hierarchy_report.h"
#include "solver/amg/settings.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver::amg {

/// Algebraic multigrid as a preconditioner, for symmetric positive definite matrices of any origin:
/// one cycle of smoothed aggregation. Symmetric if A is. No bit depends on
/// ranks, threads and modes. Lifetime: `op` outlives it.
class AmgPreconditioner final : public Preconditioner {
 public:
  /// Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError, on
  /// every rank, where a diagonal entry is not positive or the coarsest matrix is indefinite.
  /// `near_null_space`: of this rank's rows; by default the constant vector.
  AmgPreconditioner(const spmv::SparseOperator& op, const Settings& settings,
                    NearNullSpace near_null_space = {});

  void apply(const comm_thread::TeamThread& thread, const double* r, double* z) override {
    apply_to(thread, 0, r, z);
  }
  void apply_to(const comm_thread::TeamThread& thread, int vector, const double* r,
                double* z) override;
  double norm() const override;
  void begin_solve() override;
  /// Keeps aggregates, prolongators and patterns, and computes everything else anew: the same bits
  /// as a set-up that comes to the same prolongators. False unless `keeps_set_up`. Throws as the
  /// constructor does; of no use after that.
  bool collective_take_new_values() override;
  bool is_symmetric() const override { return true; }
  bool has_levels() const override { return true; }

  /// What each level has and took. Thread: the main thread, outside the team.
  HierarchyReport report() const;
  /// Times count from now on. Thread: as above.
  void forget_times();

 private:
  using AnyCycle = std::variant<std::unique_ptr<Cycle<float>>, std::unique_ptr<Cycle<double>>>;

  static AnyCycle collective_make(const spmv::SparseOperator& op, const Settings& settings,
                                  NearNullSpace near_null_space);

  AnyCycle cycle_;
};

}  // namespace weft::solver::amg
