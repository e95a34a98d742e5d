#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "library/options/solve_settings.h"
#include "library/solve/row_scaling.h"
#include "library/solve/solve_context.h"
#include "solver/choice/matrix_traits.h"
#include "solver/precondition/null_space.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/linear_operator.h"

namespace weft::library {

/// Traits of the matrix, whose asymmetry is in the numbers of the rows as given. `given_row`: null
/// where both numbers are the same. Collective. Thread: the main thread, outside the team.
solver::MatrixTraits collective_find_given_traits(const spmv::SparseOperator& matrix,
                                                  const CollectiveGivenRow& given_row);

/// Refuses a matrix that is not symmetric where the method needs one that is, unless forced.
/// `name`: of the problem, for the message; may be empty. Every rank alike. Throws
/// comm_thread::InputError.
void check_symmetry(const SolveSettings& settings, const solver::MatrixTraits& traits,
                    const std::string& name);

/// A linear system as methods solve it: its operator, or where the values are very large or very
/// small a multiple by a power of two (value_range.h); what is known of the matrix; what is done
/// about rows that differ in scale; and its null space.
/// Functions are collective. Thread: the main thread, outside the team. Lifetime: what it is made
/// of outlives it.
class SolvableSystem {
 public:
  /// `may_go_on`: a solve may consist of several runs of a method.
  SolvableSystem(spmv::LinearOperator& given, const SolveSettings& asked,
                 const SystemContext& context, bool may_go_on)
      : given_(given), asked_(asked), context_(context), rows_(asked, context, may_go_on) {}

  /// Looks at the values of the operator; nothing may refer to what was found before. Throws
  /// comm_thread::InputError where the matrix does not suit what is asked for.
  void collective_look();

  /// The operator, or its multiple, whose rows are as given.
  spmv::LinearOperator& op() const { return *op_; }
  /// The same where it is a matrix; else null.
  spmv::SparseOperator* matrix() const { return matrix_; }
  /// What methods are made for: the same, or the scaled matrix.
  spmv::LinearOperator& op_of_methods() { return rows_.is_scaled() ? rows_.scaled().op() : op(); }
  /// What takes the place of the constant vector in `amg`; empty: nothing. Shape: [element_count].
  std::vector<double> constant() const {
    return rows_.is_scaled() ? rows_.scaled().constant() : std::vector<double>{};
  }

  bool is_multiple() const { return multiple_.has_value(); }
  int exponent() const { return exponent_; }  // of the power of two
  bool is_finite() const { return is_finite_; }
  const std::optional<solver::MatrixTraits>& traits() const { return traits_; }  // of a matrix
  bool is_symmetric() const { return !traits_ || traits_->is_symmetric(); }
  RowScaling& rows() { return rows_; }
  const RowScaling& rows() const { return rows_; }
  solver::NullSpace* null_space() const { return null_space_.get(); }  // null: none is known
  const std::string& null_space_text() const { return null_space_text_; }

 private:
  void collective_bring_into_range();
  void collective_find_traits();
  void collective_find_null_space();

  spmv::LinearOperator& given_;
  const SolveSettings& asked_;
  const SystemContext& context_;
  std::optional<spmv::SparseOperator> multiple_;
  int exponent_ = 0;
  bool is_finite_ = true;
  spmv::LinearOperator* op_ = &given_;
  spmv::SparseOperator* matrix_ = nullptr;
  std::optional<solver::MatrixTraits> traits_;
  RowScaling rows_;
  std::unique_ptr<solver::NullSpace> null_space_;
  std::string null_space_text_;
};

}  // namespace weft::library
