#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/grid/grid_operator.h"
#include "spmv/problems/diffusion_generator.h"
#include "spmv/problems/problem.h"

namespace weft::spmv {

/// diffusion3d as a linear operator without a matrix: 7 points whose couplings vary, 24 bytes a row
/// where the matrix takes about 90. The bits of y = A·x are those of the matrix.
class DiffusionOperator final : public GridOperator {
 public:
  /// As GridOperator. `problem`: diffusion3d.
  DiffusionOperator(const comm_thread::Communicator& communicator,
                    comm_thread::CommThread& comm_thread, const comm_thread::ComputeTeam& team,
                    const Problem& problem);

  /// Couplings of a point and the one before it in direction `d`, with the boundary before the
  /// first point and after the last one. Shape: an array of `layout`, at the own points and one
  /// further.
  const double* couplings(std::size_t d) const { return couplings_[d].data(); }
  /// Elements from a point to the next one in direction `d`.
  std::ptrdiff_t stride(std::size_t d) const {
    return d == 0 ? 1 : d == 1 ? layout().row_stride() : layout().plane_stride();
  }
  /// The diagonal of the matrix at an element, summed as the generator does.
  double diagonal(std::size_t element) const;

  std::int64_t nonzero_count() const override;
  std::string format_name() const override;
  std::int64_t stored_bytes() const override;
  double collective_norm() const override { return norm_; }
  void copy_diagonal(std::span<double> diagonal) const override;

 private:
  void multiply_box(const GridBox& box, const double* x, double* y, RowSum x_dot_y,
                    const std::function<void()>& pause) const override;
  /// Those of the points of `box` in `lines` lines from (y, z) on; more than one only where `box`
  /// has whole lines of the grid.
  void take_couplings(const DiffusionGenerator& generator, const GridBox& box, GlobalIndex y,
                      GlobalIndex z, GlobalIndex lines);
  double collective_find_norm() const;

  std::array<perfmodel::HugePageBuffer<double>, 3> couplings_;
  double norm_ = 0;
};

}  // namespace weft::spmv
