#pragma once

#include <span>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::library {

/// Powers of two that bring the values of a linear system into a range in which products of them,
/// and squares of these, are doubles. They round nothing, so that a system and its multiple by any
/// power of two have the same iterations, and x differs by a power of two.
///
/// Functions are collective. Thread: the main thread, outside the team. Throw
/// comm_thread::MpiError.

struct ValueRange {
  double largest = 0;  // magnitude; not finite where a value is not
  /// Of the power of two by which the values are to be multiplied: 0 where the largest one is
  /// ordinary, from 2⁻¹⁰⁰ to 2¹⁰⁰, or zero, or not finite.
  int exponent = 0;
};

/// Of a vector of `op`. Shape: [element_count].
ValueRange collective_range_of(const spmv::LinearOperator& op, std::span<const double> vector);

/// Of the values of a matrix, with an even exponent: the roots of its diagonal keep their digits.
ValueRange collective_range_of(const spmv::SparseOperator& op);

/// The matrix of `op` with other values, in the same pattern: nobody may write to that. Lifetime:
/// the pattern of `op` outlives it. Not collective.
spmv::DistributedMatrix with_values(const spmv::SparseOperator& op,
                                    perfmodel::HugePageBuffer<double> values);

/// The operator with values that are 2^exponent times as large, in the pattern of `op`.
spmv::SparseOperator collective_multiple(const spmv::SparseOperator& op, int exponent);

/// Multiplies the values of `op` by 2^exponent.
void scale_in_place(spmv::SparseOperator& op, int exponent);

/// to = 2^exponent·from, which may be the same. Returns the largest difference of an entry of this
/// rank from 2^-exponent·to: 0 where no entry leaves the range of double, infinity where one is too
/// large for it. Shape: from, to: [element_count]. Not collective.
double scale(const spmv::LinearOperator& op, int exponent, std::span<const double> from,
             std::span<double> to);

}  // namespace weft::library
