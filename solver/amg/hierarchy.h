#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsening/chains.h"
#include "solver/amg/coarsening/coarse_columns.h"
#include "solver/amg/coarsening/coupling.h"
#include "solver/amg/coarsening/galerkin.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/near_null_space.h"
#include "solver/amg/coarsening/row_values.h"
#include "solver/amg/coarsest_level.h"
#include "solver/amg/level.h"
#include "solver/amg/settings.h"
#include "solver/amg/transfers.h"
#include "solver/levels/gathering.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver::amg {

/// The levels of smoothed aggregation for a symmetric positive definite matrix, which are set up in
/// double precision and kept in the precision of `Value`.
///
///     matrix ─► strong rows ─► independent set ─► aggregates ─► prolongator ─► Galerkin product ─┐
///       ▲                                                                                        │
///       └──────────────────────────── the next level ◄───────────────────────────────────────────┘
///
/// All of it by the ranks and threads that own the rows; no rank has more than its rows and those
/// next to them, but for the level that is solved directly. No bit depends on ranks and threads.
/// Source: Vanek, Mandel, Brezina 1996, "Algebraic multigrid by smoothed aggregation for second and
/// fourth order elliptic problems".
template <class Value>
class Hierarchy {
 public:
  /// Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError, on
  /// every rank, where a diagonal entry is not positive. Lifetime: `op` outlives it.
  /// `near_null_space`: of this rank's rows.
  Hierarchy(const spmv::SparseOperator& op, const Settings& settings,
            NearNullSpace near_null_space = {});

  /// Renews all levels for new values of the matrix, with the aggregates and prolongators that
  /// there are. False, and nothing done, unless the settings ask to keep them. Collective. Thread:
  /// the main thread, outside the team. Throws comm_thread::InputError.
  bool collective_take_new_values();

  const comm_thread::Crew& crew() { return crew_; }
  std::vector<std::unique_ptr<Level<Value>>>& levels() { return levels_; }
  /// Of the cycle: that of the settings, or what was chosen.
  Settings::Form form() const { return settings_.form; }
  const Gathering& gathering() const { return gathering_; }
  const std::vector<std::unique_ptr<Level<Value>>>& levels() const { return levels_; }
  /// The last level's direct solution; null where no level is small enough.
  CoarsestLevel* coarsest() { return coarsest_ ? &*coarsest_ : nullptr; }
  /// D^(-1/2) of the finest level's own rows.
  std::span<const double> scale() const { return finest_scale_; }
  /// An upper bound of the norm of a cycle, and not much more than it.
  double norm() const { return norm_; }

 private:
  /// What a level keeps for new values.
  struct Kept {
    std::optional<Transfer> transfer{};
    KeptProduct product;
    int vector_count = 1;  // columns of an aggregate
    spmv::DistributedMatrix coarse;
    spmv::HaloPlan plan{};  // of `coarse`
  };

  void collective_build();
  /// Of a level, where all are kept.
  const spmv::DistributedMatrix& matrix_of(std::size_t level) const {
    return level == 0 ? op_.matrix().matrix() : kept_[level - 1].coarse;
  }
  /// Scale, transfers from the finer level, and its matrix or direct solution. Returns the scale of
  /// own rows.
  perfmodel::PageVector<double> collective_fill_level(std::size_t number, const LevelMatrix& fine,
                                                      bool is_direct);
  /// True if the levels' nonzeros say that a W-cycle takes a little more work than a V-cycle.
  bool has_cheap_w_cycle() const;
  void collective_bound_norm();
  void keep_transfer(Kept& kept);
  /// Adds a level; returns the matrix of the next, or nothing.
  std::optional<spmv::DistributedMatrix> collective_add_level(
      const spmv::DistributedMatrix& matrix, std::vector<spmv::LocalIndex> thread_rows);
  void collective_make_direct(Level<Value>& level, const LevelMatrix& matrix,
                              std::span<const double> scale);
  void make_off_diagonal(Level<Value>& level, const LevelMatrix& matrix,
                         const RowValues<double>& scale);
  /// Smoothing by a polynomial.
  void collective_make_smoother(std::size_t number, const LevelMatrix& matrix);
  /// Smoothing by the inverse in the links of chains.
  void collective_make_link_inverse(Level<Value>& level, const LevelMatrix& matrix,
                                    const Chains& chains);
  /// Also makes the smoother. `scale` is used up where there is a product.
  std::optional<GalerkinProduct> collective_coarsen(std::size_t number, const LevelMatrix& matrix,
                                                    perfmodel::PageVector<double>& scale);
  /// The same by aggregates of nodes, whose coarse rows represent `space_`, which becomes that of
  /// the coarse level.
  std::optional<GalerkinProduct> collective_coarsen_nodes(std::size_t number,
                                                          const LevelMatrix& matrix,
                                                          perfmodel::PageVector<double>& scale);

  const spmv::SparseOperator& op_;
  comm_thread::Communicator communicator_;  // for the levels' own messages
  comm_thread::Crew crew_;
  Settings settings_;
  Gathering gathering_;
  std::vector<Kept> kept_;  // by level
  NearNullSpace space_;  // of the last level so far
  std::vector<std::unique_ptr<Level<Value>>> levels_;
  std::optional<CoarsestLevel> coarsest_;
  std::optional<Transfer> transfer_;  // during set-up
  perfmodel::PageVector<double> finest_scale_;
  std::vector<double> transfer_norms_;  // ‖P‖², by level
  double norm_ = 1;
};

extern template class Hierarchy<float>;
extern template class Hierarchy<double>;

}  // namespace weft::solver::amg
