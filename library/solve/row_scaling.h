#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "library/options/solve_settings.h"
#include "library/solve/row_residual.h"
#include "library/solve/scaled_system.h"
#include "library/solve/solve_context.h"
#include "solver/choice/matrix_traits.h"
#include "solver/choice/row_scales.h"
#include "solver/report/solve_report.h"
#include "solver/report/stop_criterion.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::library {

/// What is done about rows of a matrix that differ in scale: `auto`, and who asks for it, solves a
/// scaled system; else residuals are judged row by row. Where coefficients jump on a grid and
/// nothing else makes rows differ, all factors of the scaled system are 1, as multigrid needs it.
/// Functions are collective. Thread: the main thread, outside the team. Lifetime: what it is made
/// of outlives it.
class RowScaling {
 public:
  /// `may_go_on`: a solve may consist of several runs of a method.
  RowScaling(const SolveSettings& asked, const SystemContext& context, bool may_go_on)
      : asked_(asked), context_(context), may_go_on_(may_go_on) {}

  /// Forgets the matrix and what was made of it.
  void forget();
  /// Looks at a matrix, and scales it where that is wanted and possible. Throws
  /// comm_thread::InputError where it is asked for and not possible.
  void collective_look(spmv::SparseOperator& matrix, const solver::MatrixTraits& traits);

  /// True if the system is solved with each row of the residual divided by its scale.
  bool is_scaled() const { return scaled_ != nullptr; }
  /// True if another matrix than the given one is solved with.
  bool has_copy() const { return scaled_ && scales_->scaled_row_count > 0; }
  ScaledSystem& scaled() { return *scaled_; }  // where it is
  const ScaledSystem& scaled() const { return *scaled_; }
  /// How many rows are scaled and why, in a line for the user; empty where none are.
  std::string decision() const;

  /// Weights that make the rows of a residual alike; empty where all are 1.
  std::span<const double> weights() const {
    return scales_ ? scales_->weight.span() : std::span<const double>{};
  }

  /// Where rows differ in scale and are not scaled, a converged solve may have solved for the large
  /// ones only: says so in the report. With half of the digits that were asked for it has solved
  /// for all of them; with less it has not converged. One that has failed has converged where its
  /// residual is small in each row, and else rounding. Shape: b, x: [element_count].
  void collective_judge(std::span<const double> b, std::span<const double> x,
                        const solver::StopCriterion& stop, solver::SolveReport& report);

 private:
  std::string obstacle() const;

  const SolveSettings& asked_;
  const SystemContext& context_;
  bool may_go_on_;
  spmv::SparseOperator* matrix_ = nullptr;  // null: none
  bool has_null_space_ = false;
  std::optional<solver::RowScales> scales_;  // where rows differ in scale
  std::unique_ptr<ScaledSystem> scaled_;  // null: methods work on the given matrix
  std::unique_ptr<RowResidual> residual_;  // of the given matrix, once there was one
};

}  // namespace weft::library
