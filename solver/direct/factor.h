#pragma once

#include <span>

#include "comm_thread/mpi/input_error.h"

namespace weft::solver {

/// A factor for which there is not enough memory, whatever the matrix is like.
class FactorTooLarge : public comm_thread::InputError {
 public:
  using InputError::InputError;
};

/// A factored matrix, exactly or incompletely: factored once, solved with again and again.
class Factor {
 public:
  Factor() = default;
  virtual ~Factor() = default;
  Factor(const Factor&) = delete;
  Factor& operator=(const Factor&) = delete;

  /// The solution for `right_hand_side`, valid until the next call by the same thread.
  /// Shape: both [size]. `thread`: below the number that the factor was made for. Allocates at the
  /// first call of a thread at most.
  virtual std::span<const double> solve(int thread, std::span<double> right_hand_side) = 0;

  /// True if the factors show that a symmetric matrix is positive definite.
  virtual bool is_definite() const = 0;
};

}  // namespace weft::solver
