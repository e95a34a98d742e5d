#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/multigrid/cubic_terms.h"
#include "solver/multigrid/grid_cycle.h"
#include "solver/multigrid/grids/box_exchange.h"
#include "solver/multigrid/grids/grid_array.h"
#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_layout.h"

namespace weft::solver {

/// Full multigrid: a first solution from those of coarser grids.
///
///     finest    b ── restricted ──                          ── interpolated ──► x
///     coarse         f ── restricted ──     ── interpolated, two cycles ──
///     coarsest           f ── solved directly ──
///
/// Interpolation is cubic, so that x is as good as a solution on the finest grid, up to a small
/// factor, wherever b is smooth; one cycle more brings it to the error of discretisation. No
/// operation depends on ranks, threads or modes. Memory: two values for each
/// point of all grids but the finest.
/// Lifetime: the cycle outlives it.
template <class Value>
class FullStart {
 public:
  /// `cycle`: made with `has_full_start`. Collective. Thread: the main thread, outside the team.
  explicit FullStart(GridCycle<Value>& cycle);

  /// x at the own points of the finest grid. `b`: with at least one point around the own ones;
  /// `unit`: a power of two that brings b into the range of `Value`.
  /// Shape: b, x: arrays of `layout`. Thread: every thread of the team, after a barrier; ends with
  /// one. Collective.
  void collective_run(const comm_thread::TeamThread& thread, const spmv::GridLayout& layout,
                      const double* b, double unit, double* x);

  std::size_t byte_count() const;

 private:
  /// The guess on a grid that is neither the finest nor the coarsest.
  struct Guess {
    GridArray<Value> values;  // of the solution so far, or of the last correction to it
    GridArray<Value> sum;  // of all before that
    std::unique_ptr<BoxExchange<Value>> halo;
  };
  /// Interpolation to one grid from the next.
  struct Transfer {
    std::array<std::vector<CubicTerms<Value>>, 3> terms;  // of the own points of each direction
  };

  void collective_exchange(const comm_thread::TeamThread& thread, BoxExchange<Value>& halo) const;
  int rank() const;
  /// f of grid `index` from the rows of the next finer one, times `factor` and `unit`; with `unit`
  /// they are in the range of `Value`.
  template <class In, class RowOf>
  void restrict_to(const comm_thread::TeamThread& thread, std::size_t index, double factor, In unit,
                   const RowOf& fine_row);
  /// Rows of grid `index` from the solution of the next coarser one, times `factor`.
  template <class Out, class RowOf>
  void interpolate_to(const comm_thread::TeamThread& thread, std::size_t index, Out factor,
                      const RowOf& fine_row);
  /// f -= A·(values of the guess), at the own points and as many around them as a cycle needs.
  void subtract_product(const comm_thread::TeamThread& thread, std::size_t index) const;
  /// After a cycle on grid `index`, whose e is a correction: makes it the next guess, or, after the
  /// last one, e the solution.
  void take_correction(const comm_thread::TeamThread& thread, std::size_t index, bool is_first,
                       bool is_last);

  GridCycle<Value>& cycle_;
  std::vector<Guess> guesses_;  // [grids]
  std::vector<Transfer> transfers_;  // [grids], none to the coarsest
  std::vector<std::vector<Value>> rows_;  // [threads]
};

}  // namespace weft::solver
