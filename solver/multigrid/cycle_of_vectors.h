#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "perfmodel/simd.h"
#include "solver/levels/level_report.h"
#include "solver/levels/levels_preconditioner.h"
#include "solver/multigrid/cycle_options.h"
#include "solver/multigrid/grid_cycle.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/level_plan.h"
#include "solver/multigrid/passes/grid_pass.h"
#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/grid_operator.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/grid/shares.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/sums/largest_magnitude.h"

namespace weft::solver {

/// A cycle on grids; how vectors of an operator come to the finest one and back is in derived
/// classes.
template <class Value>
class CycleOnGrids : public LevelCycle {
 public:
  CycleOnGrids(const spmv::LinearOperator& op, GridPlan<Value> plan, const CycleOptions& options)
      : norm_(plan.inverse_norm), cycle_(op.crew(), std::move(plan.levels), options, timer_) {}

  double scale() const override { return cycle_.finest().scale; }
  double norm() const override { return norm_; }
  LevelsReport report() override { return cycle_.report(); }
  void forget_times() override { cycle_.forget_times(); }
  double least_eigenvalue() const { return cycle_.least_eigenvalue(); }

 protected:
  GridCycle<Value>& cycle() { return cycle_; }
  void collective_descend(const comm_thread::TeamThread& thread) {
    cycle_.collective_descend(thread, {.array = &cycle_.right_hand_side()},
                              &cycle_.right_hand_side_halo());
  }

 private:
  perfmodel::PhaseTimer timer_;
  double norm_;
  GridCycle<Value> cycle_;
};

/// The operator has no matrix: its vectors have the layout of the grid.
template <class Value>
class CycleOfGridVectors final : public CycleOnGrids<Value> {
 public:
  CycleOfGridVectors(const spmv::GridOperator& op, const spmv::GridPartition& /*partition*/,
                     GridPlan<Value> plan, const CycleOptions& options)
      : CycleOnGrids<Value>(op, std::move(plan), options), layout_(op.layout()) {}

  double largest(const comm_thread::TeamThread& thread, const double* r) const override {
    double largest = 0;
    for_each_row(thread, r, [&](const spmv::GridBox&, auto, auto, std::span<const double> row) {
      largest = spmv::largest_magnitude(
          static_cast<std::ptrdiff_t>(row.size()),
          [&]<class Number>(std::ptrdiff_t i)
              __attribute__((always_inline)) { return perfmodel::load<Number>(row.data() + i); },
          largest);
    });
    return largest;
  }
  void collective_begin(const comm_thread::TeamThread& thread, const double* r,
                        double unit) override {
    take(thread, r, unit);
    thread.barrier();
    this->collective_descend(thread);
  }
  void collective_end(const comm_thread::TeamThread& thread, double* z, double unit) override {
    this->cycle().collective_ascend(thread, {.layout = &layout_, .values = z, .factor = 1 / unit});
  }

  // The parts of a cycle, for a method that makes passes of its own of them:

  const spmv::GridLayout& layout() const { return layout_; }
  /// What the right-hand side of the cycle is multiplied by, and where it goes.
  double factor(double unit) const { return unit / this->scale(); }
  GridArray<Value>& right_hand_side() { return this->cycle().right_hand_side(); }
  /// The thread's rows of the right-hand side. Thread: every thread of the team.
  void take(const comm_thread::TeamThread& thread, const double* r, double unit) {
    GridArray<Value>& f = right_hand_side();
    const double by = factor(unit);
    for_each_row(thread, r,
                 [&](const spmv::GridBox& box, auto y, auto z, std::span<const double> row) {
                   Value* const to = f.row(y, z) + box.begin[0];
                   for (std::size_t i = 0; i < row.size(); ++i)
                     to[i] = static_cast<Value>(by * row[i]);
                 });
  }
  /// A cycle for the right-hand side that all threads have written. Thread: every thread of the
  /// team, after a barrier; ends with one. Collective.
  void collective_run(const comm_thread::TeamThread& thread,
                      const typename UpPass<Value>::Sink& sink) {
    this->collective_descend(thread);
    this->cycle().collective_ascend(thread, sink);
  }

 private:
  /// Calls work(box, y, z, values) for the rows of the thread's boxes.
  template <class Work>
  void for_each_row(const comm_thread::TeamThread& thread, const double* r,
                    const Work& work) const {
    for (const spmv::GridBox& box : spmv::share_of_rows(layout_.own(), thread.index, thread.count))
      for (spmv::GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
        for (spmv::GlobalIndex y = box.begin[1]; y < box.end[1]; ++y)
          work(box, y, z,
               std::span(r + layout_.index(box.begin[0], y, z),
                         static_cast<std::size_t>(box.size(0))));
  }

  const spmv::GridLayout& layout_;
};

}  // namespace weft::solver
