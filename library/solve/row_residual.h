#pragma once

#include <memory>
#include <span>

#include "comm_thread/engine/reproducible_sum.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/choice/row_scales.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/rows/halo_vector.h"

namespace weft::library {

/// Residuals of a matrix whose rows differ in scale, and their norms with each row divided by its
/// scale. The bits do not depend on ranks and threads.
/// Functions are collective. Thread: the main thread, outside the team. Lifetime: both outlive it.
/// Shape of vectors: [element_count].
class RowResidual {
 public:
  RowResidual(spmv::SparseOperator& op, const solver::RowScales& scales);

  /// r = b − A·x.
  void collective_find(std::span<const double> b, std::span<const double> x, std::span<double> r);

  /// ‖W·v‖, with the weights W of the scales. No square leaves the range of double.
  double collective_norm_of_rows(std::span<const double> v) {
    return collective_norm(v, scales_.weight.span());
  }
  /// ‖factor·v‖, element by element; ‖v‖ where `factor` is empty.
  double collective_norm(std::span<const double> v, std::span<const double> factor);

 private:
  spmv::SparseOperator& op_;
  const solver::RowScales& scales_;
  std::unique_ptr<spmv::HaloVector> operand_;
  comm_thread::ReproducibleSum sum_;
  perfmodel::HugePageBuffer<double> product_;  // also room of a norm
};

}  // namespace weft::library
