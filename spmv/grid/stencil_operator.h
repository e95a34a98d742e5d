#pragma once

#include <functional>
#include <span>
#include <string>

#include "spmv/grid/grid_operator.h"
#include "spmv/grid/stencil.h"

namespace weft::spmv {

/// A grid problem whose numbers are the same at all points, as a linear operator without a matrix.
/// The bits of y = A·x are those of the matrix.
class StencilOperator final : public GridOperator {
 public:
  /// As GridOperator.
  StencilOperator(const comm_thread::Communicator& communicator,
                  comm_thread::CommThread& comm_thread, const comm_thread::ComputeTeam& team,
                  const GridStencil& stencil)
      : GridOperator(communicator, comm_thread, team, stencil.grid, stencil.has_corners),
        stencil_(stencil) {}

  const GridStencil& stencil() const { return stencil_; }
  std::int64_t nonzero_count() const override { return stencil_.nonzero_count(); }
  std::string format_name() const override;
  double collective_norm() const override { return stencil_.norm(); }
  void copy_diagonal(std::span<double> diagonal) const override;

 private:
  void multiply_box(const GridBox& box, const double* x, double* y, RowSum x_dot_y,
                    const std::function<void()>& pause) const override;

  GridStencil stencil_;
};

}  // namespace weft::spmv
