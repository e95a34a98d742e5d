#include "spmv/grid/stencil_operator.h"

#include "spmv/grid/stencil_product.h"

namespace weft::spmv {

std::string StencilOperator::format_name() const {
  return std::to_string(stencil_.point_count()) + "-point stencil, no matrix, " + boxes_name();
}

void StencilOperator::multiply_box(const GridBox& box, const double* x, double* y, RowSum x_dot_y,
                                   const std::function<void()>& pause) const {
  multiply_stencil(stencil_, layout(), x, y, box, x_dot_y, pause);
}

void StencilOperator::copy_diagonal(std::span<double> diagonal) const {
  for_each_element([&](std::size_t i) { diagonal[i] = stencil_.centre; });
}

}  // namespace weft::spmv
