#pragma once

#include <optional>
#include <span>
#include <string>

#include "comm_thread/mpi/communicator.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/krylov/method.h"
#include "solver/report/solve_report.h"
#include "solver/report/stop_criterion.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/linear_operator.h"

namespace weft::library {

/// The operator of a linear system, or where its values are very large or very small a multiple of
/// it by a power of two, as value_range.h has it.
/// Thread: the main thread, outside the team. Lifetime: `given` outlives it.
class SystemInRange {
 public:
  explicit SystemInRange(spmv::LinearOperator& given) : given_(given) {}

  /// Looks at the values of a matrix, and copies it where they leave the range. `may_copy`: false
  /// where nobody knows what the preconditioner makes of other values; then nothing is known of
  /// them. Collective.
  void collective_look(bool may_copy);

  spmv::LinearOperator& op() { return copy_ ? static_cast<spmv::LinearOperator&>(*copy_) : given_; }
  const spmv::LinearOperator& op() const {
    return copy_ ? static_cast<const spmv::LinearOperator&>(*copy_) : given_;
  }
  bool has_copy() const { return copy_.has_value(); }
  int exponent() const { return exponent_; }  // of the power of two
  bool is_finite() const { return is_finite_; }

 private:
  spmv::LinearOperator& given_;
  std::optional<comm_thread::Communicator> space_;  // of the copy
  std::optional<spmv::SparseOperator> copy_;
  int exponent_ = 0;
  bool is_finite_ = true;
};

/// The right-hand side and the guess of one solve with such a system, brought into range as well,
/// and the way back of x.
/// Thread: the main thread, outside the team. Lifetime: what it is made of outlives it.
class VectorsInRange {
 public:
  /// `stop`: of the given system. Collective.
  VectorsInRange(const SystemInRange& system, std::span<const double> b, const solver::Guess& guess,
                 const solver::StopCriterion& stop);

  std::span<const double> b() const { return b_; }
  const solver::Guess& guess() const { return guess_; }
  const solver::StopCriterion& stop() const { return stop_; }
  /// Why no method can solve the system; empty where one may.
  const std::string& unmendable() const { return unmendable_; }
  bool scales_solution() const { return x_exponent_ != 0; }

  /// x of the given system from what has been `solved`, where it is another; notes in the report
  /// why nothing could be solved, and what doubles cannot hold. Shape: solved, x: [element_count].
  /// Collective.
  void collective_scale_back(std::span<const double> solved, std::span<double> x,
                             solver::SolveReport& report) const;

 private:
  using Array = perfmodel::HugePageBuffer<double>;

  std::span<const double> scaled(std::span<const double> vector, int exponent, Array& room) const;
  std::string collective_find_unmendable(const solver::Guess& guess) const;

  const SystemInRange& system_;
  int b_exponent_;
  int x_exponent_;
  double largest_;  // magnitude of b in range
  Array b_room_;
  Array guess_room_;
  std::span<const double> b_;
  solver::Guess guess_;
  solver::StopCriterion stop_;
  std::string unmendable_;
};

}  // namespace weft::library
