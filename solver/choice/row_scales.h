#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "perfmodel/huge_page_buffer.h"
#include "solver/choice/matrix_traits.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// The scale of each row of a matrix whose rows differ so much in scale that a norm over all rows
/// tells nothing about the small ones: Dirichlet values by penalty, units of very different size,
/// coefficients that jump.
///
/// The scale of a row of a symmetric matrix is |a_ii|, or the largest magnitude of the row where
/// the diagonal entry is less than 2⁻²⁰ of that, else always the latter. Rows within 2¹⁰ of the
/// median of the rows that are no penalties count as of the same scale, so that weights of most
/// rows are 1; but where other rows of an unsymmetric matrix are farther away, each row is scaled
/// to the median. All factors are powers of two and lose no bit of what they scale.
struct RowScales {
  int spread =
      0;  // binary places between the largest and the smallest scale of a row that is not 0
  std::int64_t scaled_row_count = 0;  // on all ranks, whose factors are not 1
  /// Of this rank's rows. Shape: [element_count].
  perfmodel::HugePageBuffer<double> left;  // L of L·A·C
  perfmodel::HugePageBuffer<double> right;  // C; equal to L where A is symmetric, else 1
  perfmodel::HugePageBuffer<double> weight;  // about the inverse of the scale; L·C
  /// The diagonal entry where it exceeds all others of its row together by 2¹⁰, so that b and it
  /// say most of x there; else 0.
  perfmodel::HugePageBuffer<double> penalty;
  /// True if factors differ beside the penalties.
  bool has_other_rows = false;
  /// True if some factors of penalties are not 1.
  bool has_scaled_penalties = false;

  /// Makes all factors 1, and leaves the weights as they are.
  void keep_values();

  double ratio() const;  // 2^spread
};

/// Nothing where all rows are within 2²⁰ of each other and no penalty is 2¹⁰ above the others, as
/// `traits` of most matrices say without a look. Else one pass over the entries. Collective; the
/// same on all ranks and on any number of them. Thread: the main thread, outside the team.
std::optional<RowScales> collective_find_row_scales(const spmv::SparseOperator& op,
                                                    const MatrixTraits& traits);

}  // namespace weft::solver
