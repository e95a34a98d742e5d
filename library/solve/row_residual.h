#pragma once

#include <limits>
#include <memory>
#include <span>

#include "comm_thread/engine/reproducible_sum.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/rows/halo_vector.h"

namespace weft::library {

/// How much of |b| + |A|·|x| a residual may be where nothing but rounding is left of it.
constexpr double rounding_of_sums = 4 * std::numeric_limits<double>::epsilon();

/// Residuals of a matrix and their norms, also with each row divided by its scale. The bits do not
/// depend on ranks and threads.
/// Functions are collective. Thread: the main thread, outside the team. Lifetime: `op` outlives it.
/// Shape of vectors: [element_count].
class RowResidual {
 public:
  /// What is said of a solve whose residual is small in each row, and else rounding.
  static constexpr const char* is_rounding = "the residual is rounding, of rows of a large scale";

  explicit RowResidual(spmv::SparseOperator& op);

  /// r = b − A·x.
  void collective_find(std::span<const double> b, std::span<const double> x, std::span<double> r);

  /// sums = |b| + |A|·|x|: a residual is rounded by some units in the last place of these.
  void collective_find_magnitudes(std::span<const double> b, std::span<const double> x,
                                  std::span<double> sums);

  /// ‖factor·v‖, element by element; ‖v‖ where `factor` is empty. No square leaves the range of
  /// double.
  double collective_norm(std::span<const double> v, std::span<const double> factor);

 private:
  template <class Work>
  void collective_multiply(std::span<const double> x, const Work& work);

  spmv::SparseOperator& op_;
  std::unique_ptr<spmv::HaloVector<double>> operand_;
  comm_thread::ReproducibleSum sum_;
  perfmodel::HugePageBuffer<double> product_;  // also room of a norm
};

}  // namespace weft::library
