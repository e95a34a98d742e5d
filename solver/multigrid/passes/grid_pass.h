#pragma once

#include <functional>
#include <optional>

#include "solver/multigrid/grids/chebyshev.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/grids/level_couplings.h"
#include "solver/multigrid/passes/finest_residual.h"
#include "solver/multigrid/passes/first_steps.h"
#include "solver/multigrid/passes/pass_memory.h"
#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/sums/binned_sum.h"

namespace weft::solver {

/// Points that one thread takes through a fused pass, and the own points of the rank among them:
/// what is beside those is computed by two ranks alike, which saves a message for each sweep.
struct PassTile {
  spmv::GridBox points;
  spmv::GridBox own;
};

/// Smoothing from zero and restriction of the residual in one pass through memory, plane by plane:
///
///     x₁ = c₀·D⁻¹·f          plane z; with constant couplings only as part of x₂
///     x₂ = …, x₃ = …          plane z - 1, z - 2
///     f_coarse += R·(f - A·x)  the plane behind the last of them
///
/// Tiles do not wait for each other: each computes again what it needs of its neighbours', as deep
/// as there are steps. Reads f, writes x: 8 bytes a point, and a coarse value; with couplings that
/// vary it reads 19.5 bytes of them besides.
/// Source: Ghysels, Klosiewicz, Vanroose 2012 (fused smoothers).
template <class Value>
class DownPass {
 public:
  /// Points around the own ones whose f must be there.
  static int depth(int steps) { return steps + 1 > 2 * steps - 1 ? steps + 1 : 2 * steps - 1; }

  /// `steps`: of a smoother for both sides. `couplings`: of the fine grid where they vary, else
  /// null.
  DownPass(const GridLevel& fine, const GridLevel& coarse, int steps,
           const LevelCouplings<Value>* couplings = nullptr);

  /// Where f comes from: an array, or, on the finest grid, the residual of a solution, which the
  /// pass computes plane by plane.
  struct Source {
    const GridArray<Value>* array = nullptr;
    const FinestResidual* residual = nullptr;
    GridArray<Value>* copy = nullptr;  // of what was computed
    spmv::CloseSum* square = nullptr;  // adds the residual's squares of own points
  };

  /// Smooths `tile.points` and restricts to the coarse points among `tile.own`. `x`: may be empty,
  /// where UpPass::repeats_start. Calls `pause`, if there is one, after each plane. Thread: any
  /// number, on tiles that do not overlap.
  void run(const PassTile& tile, const Source& source, GridArray<Value>& x,
           GridArray<Value>& f_coarse, PassMemory<Value>& memory,
           const std::function<void()>& pause) const;

 private:
  template <class Grid>
  class Run;

  const GridLevel& fine_;
  const GridLevel& coarse_;
  Smoother smoother_;
  const LevelCouplings<Value>* couplings_;
  std::optional<FirstSteps<Value>> first_steps_;  // none where couplings vary
};

/// Interpolation of the coarse solution and smoothing in one pass: reads f and x, writes x anew
/// elsewhere; 12 bytes a point, and a coarse value; and couplings as the pass down.
///
/// Two steps from zero are one sum of f at a point and its neighbours, so x need not be kept: the
/// pass computes it again, with the same bits. It spares 4 bytes a point of memory and 12 of its
/// traffic.
template <class Value>
class UpPass {
 public:
  /// True if `run` can do without x, which then has to be what DownPass makes.
  static bool repeats_start(int steps, const LevelCouplings<Value>* couplings) {
    return steps == 2 && !couplings;
  }

  /// As DownPass.
  UpPass(const GridLevel& fine, int steps, const LevelCouplings<Value>* couplings = nullptr);

  /// Where x goes: to an array of Value; or to `values`, as factor·x; or, with a direction d, there
  /// in a step of a semi-iteration: d = old·d + fresh·x, values += factor·d. Beside an array, the
  /// sum of r·(factor·x) may be taken.
  struct Sink {
    GridArray<Value>* array = nullptr;
    const spmv::GridLayout* layout = nullptr;  // of `values`, r
    double* values = nullptr;
    const double* r = nullptr;  // where there is a sum
    spmv::BinnedSum* r_dot_x = nullptr;
    GridArray<Value>* direction = nullptr;
    double old = 0;
    double fresh = 1;
    double factor = 1;  // a power of two
  };

  /// `e`: the coarse solution. `x`: empty to compute it again; then f must be there at one more
  /// point on each side than there are steps. As DownPass::run; all of `tile.points` are own
  /// points.
  void run(const PassTile& tile, const GridArray<Value>& f, const GridArray<Value>& x,
           const GridArray<Value>& e, const Sink& sink, PassMemory<Value>& memory,
           const std::function<void()>& pause) const;

 private:
  template <class Grid>
  class Run;

  const GridLevel& fine_;
  Smoother smoother_;
  const LevelCouplings<Value>* couplings_;
  std::optional<FirstSteps<Value>> first_steps_;  // where `repeats_start`
};

}  // namespace weft::solver
