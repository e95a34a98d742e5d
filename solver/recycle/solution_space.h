#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"
#include "spmv/rows/halo_vector.h"
#include "spmv/rows/operand.h"

namespace weft::solver {

/// The last solutions of a sequence of systems, and the best first guess for the next one that they
/// span.
///
///     x₃  x₃ − x₂  x₃ − 2x₂ + x₁  …      backward differences: the same space, not near dependence
///
/// Of a symmetric matrix the guess has the least error in the norm of A, of another one the least
/// residual. It costs a product for each vector where the matrix has new values, several of
/// which read it once, and one in all where it has not, as products change like their vectors. The
/// bits do not depend on ranks and threads.
///
/// Functions are collective. Thread: the main thread, outside the team. Lifetime: `op` outlives it.
/// Source: Fischer 1998, "Projection techniques for iterative solution of Ax = b with successive
/// right-hand sides".
class SolutionSpace {
 public:
  /// `most`: vectors that are kept. Memory: 16 bytes a row for each that has been used.
  SolutionSpace(spmv::SparseOperator& op, spmv::Mode mode, int most);

  int most() const { return most_; }
  /// Solutions that are known, at most those that are kept.
  int size() const { return size_; }

  /// Says that the matrix has other values than before.
  void forget_products() { product_count_ = 0; }
  /// Forgets all but the first `count` differences.
  void keep(int count);

  /// Writes the best x of the span of the first `count` differences and, unless it is empty, of
  /// `other`, a guess that somebody has. Returns false, and x is not written, where there is none
  /// of these, or what is left of the products is not definite. Shape: all [element_count].
  bool collective_guess(std::span<const double> b, std::span<const double> other, int count,
                        bool is_symmetric, std::span<double> x);

  /// Finds `digits`, by the solution x for b, which the last guess was for.
  void collective_judge(std::span<const double> b, std::span<const double> x);
  /// Takes a solution; the oldest is forgotten where there is no room.
  void collective_take(std::span<const double> x);

  /// By how many digits each difference of the last guess has made the error smaller. Empty where
  /// there was no guess.
  const std::vector<double>& digits() const { return digits_; }

  /// Calls carry(number) for each number of the state between two solves.
  template <class Carry>
  void for_each_number(const Carry& carry) {
    carry(size_);
    carry(product_count_);
    carry(taken_count_);
  }
  /// The vectors of that state, as many as its numbers say. Shape: each [element_count].
  std::vector<double*> collective_vectors();

 private:
  using Array = perfmodel::HugePageBuffer<double>;
  struct Pair {
    const double* a;
    const double* b;
  };

  void collective_make_vector(int number);
  void collective_find_products(int count);
  void collective_multiply(spmv::Operand& vector, double* product);
  void collective_multiply_block(std::size_t first, std::size_t width);
  comm_thread::ReproducibleSum& collective_sums(std::size_t count);
  std::vector<double> collective_dots(std::span<const Pair> pairs);
  bool collective_is_last(std::span<const double> x);
  void copy(std::span<const double> from, double* to);
  void combine(std::span<const double* const> vectors, std::span<const double> factors,
               std::span<double> x);
  void roll(const double* newest, std::span<double* const> differences);

  spmv::SparseOperator& op_;
  spmv::Mode mode_;
  int most_;
  std::map<std::size_t, comm_thread::ReproducibleSum> sums_;  // by how many are added at once
  std::vector<std::unique_ptr<spmv::Operand>> vectors_;  // the differences; the last is `other`
  std::vector<Array> products_;  // A times them
  Array newest_product_;
  std::map<std::size_t, std::unique_ptr<spmv::HaloVector<double>>> blocks_;  // by width
  std::vector<Array> rooms_;  // [threads], for products of a block
  int size_ = 0;  // differences that are known
  int product_count_ = 0;  // of these, whose products are, but for solutions taken since
  int taken_count_ = 0;  // since these products
  bool is_error_known_ = false;  // of the last guess, before the solution
  double first_square_ = 0;  // of the error of x = 0
  std::vector<double> squares_;  // by which each vector of the last guess makes it smaller
  std::vector<double> digits_;
};

}  // namespace weft::solver
