#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "perfmodel/huge_page_buffer.h"
#include "solver/multigrid/couplings/coupling_plane.h"
#include "spmv/grid/grid_box.h"

namespace weft::solver {

/// Weights of interpolation in one direction: a point 2m, between the coarse points m - 1 and m, is
/// t_m·(value m - 1) + (1 - t_m)·(value m); the points 2m + 1 are the coarse ones.
///
///     coarse m - 1 ──a── fine 2m ──b── coarse m        t = a / (a + b)
///
/// So a flux that goes straight through is interpolated exactly, whatever the couplings.
template <class Value>
struct InterpolationWeights {
  /// The row (y, z), indexed by x.
  Value* row(spmv::GlobalIndex y, spmv::GlobalIndex z) const {
    return first + y * row_stride + z * plane_stride;
  }

  spmv::GridBox box;  // m in one direction, points in the others: those that are written
  Value* first = nullptr;  // of (0, 0, 0)
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t plane_stride = 0;
};

/// The m and points for which there are couplings, where the points of `fine` have them.
spmv::GridBox weights_box(const spmv::GridBox& fine, std::size_t direction);

/// The points of the grid with every second point in one direction which get couplings from those
/// of `fine`. `grid`: all points of the fine grid.
spmv::GridBox coarse_points(const spmv::GridBox& fine, const spmv::GridBox& grid,
                            std::size_t direction);

/// Takes the planes of a grid and makes those of the grid with every second point in one direction,
/// for as many points as those of `fine` allow; fills `weights`. Couplings along the direction are
/// in series, those across it in parallel, each as much as the weights of its points, whose
/// transpose restricts:
///
///     along    1 / (1/b_2j + 1/b_2j+1)
///     across   b_2j+1 + (mean of 1 - t_j)·b_2j + (mean of t_j+1)·b_2j+2, over the two ends
///
/// So couplings that are the same everywhere stay what they are on a grid of any size, with the
/// last gap. Planes take turns in memory, so that all of it stays in cache:
///
///     x, y     plane z, the weights of z - 1 and z                       ->  plane z
///     z        planes 2j … 2j + 3, the weights of planes j and j + 1     ->  plane j
///
template <class Value>
class PlaneCoarsener final : public PlaneSink {
 public:
  /// `grid`: all points of the fine grid. `next` takes the coarse planes, if there are any.
  PlaneCoarsener(const spmv::GridBox& fine, const spmv::GridBox& grid, std::size_t direction,
                 const InterpolationWeights<Value>& weights, PlaneSink& next);

  CouplingPlane& place(spmv::GlobalIndex z) override {
    return planes_[static_cast<std::size_t>(z) % planes_.size()];
  }
  void take(spmv::GlobalIndex z) override;

 private:
  /// Rows of weights of a plane: y, or m in direction y.
  Value* weights_row(spmv::GlobalIndex y, spmv::GlobalIndex plane);
  void fill_weights(spmv::GlobalIndex plane);
  void make_plane(spmv::GlobalIndex z);
  bool provide_excess(spmv::GlobalIndex z);
  /// `part`: fine points after the first one of a coarse point, in the direction.
  CouplingPlane& fine_plane(spmv::GlobalIndex z, std::ptrdiff_t part);
  const double* fine_row(std::size_t k, spmv::GlobalIndex x, spmv::GlobalIndex y,
                         spmv::GlobalIndex z, std::ptrdiff_t part);
  void fill_along(spmv::GlobalIndex y, spmv::GlobalIndex z, double* out);
  /// `k`: the direction of the couplings; 3: excess.
  void fill_across(std::size_t k, spmv::GlobalIndex y, spmv::GlobalIndex z, double* out);

  spmv::GridBox fine_;
  spmv::GridBox coarse_;
  spmv::GridBox grid_;
  spmv::GridBox weights_box_;
  std::size_t d_;
  spmv::GlobalIndex size_;  // in the direction
  InterpolationWeights<Value> weights_;
  PlaneSink& next_;
  spmv::GlobalIndex next_plane_;  // of the coarse grid
  std::vector<CouplingPlane> planes_;
  std::ptrdiff_t weights_stride_;
  std::array<perfmodel::HugePageBuffer<Value>, 2> plane_weights_;
};

}  // namespace weft::solver
