#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "library/solve/row_residual.h"
#include "library/solve/solve_limits.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/choice/row_scales.h"
#include "solver/krylov/method.h"
#include "solver/precondition/matrix_size.h"
#include "solver/report/solve_report.h"
#include "solver/report/stop_criterion.h"
#include "spmv/matrix/matrix_format.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::library {

/// A system whose rows differ in scale, solved as L·A·C·y = L·b, x = C·y, by any method for the
/// scaled matrix, until both ‖b − A·x‖ and ‖W·(b − A·x)‖, where each row counts, are small compared
/// with ‖b‖ and ‖W·b‖.
///
/// First x_i = b_i / a_ii where a penalty says x, so that its rows do not hide the others in sums.
/// Where a method has converged in its own norm and not in these, it solves for the rest of b.
///
///     L·A·C of a penalty of 2⁶⁰ on row 0, with d = 2⁻³⁰        2⁶⁰ -1         1 -d
///                                                              -1   2 -1  →  -d  2 -1
///                                                                  -1  2        -1  2
///
/// Functions are collective. Thread: the main thread, outside the team. Lifetime: `given` and
/// `scales` outlive it, as its pattern is that of `given`.
class ScaledSystem {
 public:
  /// `may_go_on`: false where one run of a method is all there may be.
  ScaledSystem(spmv::SparseOperator& given, const solver::RowScales& scales,
               spmv::MatrixFormat format, bool may_go_on);

  /// Bytes of a rank: values in the pattern of the given matrix, stored like that, and the factors,
  /// residuals and solutions of the given system, vectors of `element_count`.
  static double forecast_bytes(const solver::MatrixSize& size, double element_count);

  /// The given one where all factors are 1.
  spmv::SparseOperator& op() { return copy_ ? *copy_ : given_; }
  /// C⁻¹·(1, 1, …), which is to the scaled matrix what the constant vector is to the given one;
  /// empty where it is constant beside the penalties. Shape: [element_count].
  std::vector<double> constant() const;

  /// Solves from `guess`, or from 0, by `method`, made for `op()`, which `limits` watch. Shape: b,
  /// guess: [element_count].
  solver::SolveReport collective_solve(solver::KrylovMethod& method, SolveLimits& limits,
                                       const solver::StopCriterion& stop, std::span<const double> b,
                                       const solver::Guess& guess);
  std::span<const double> solution() const { return x_.span(); }

  /// L·v and C·v, into `to`. Shape: both [element_count].
  void scale_residual(std::span<const double> v, std::span<double> to) const;
  void scale_solution(std::span<const double> v, std::span<double> to) const;

 private:
  /// Norms of b, and those of a residual that is small enough: as they are, and with each row
  /// divided by its scale.
  struct Aim {
    double given_norm = 0;
    double row_norm = 0;
    double wanted_given = 0;
    double wanted_of_rows = 0;
    bool has_b = false;
    double first_norm = -1;  // of L·r before the first run; below 0: not known yet
  };

  /// How many times the norms of a residual are what is wanted.
  struct Excess {
    double given = 0;
    double of_rows = 0;
    double most() const { return std::max(given, of_rows); }
  };

  Aim collective_begin(const solver::StopCriterion& stop, std::span<const double> b,
                       const solver::Guess& guess);
  Excess collective_judge(const Aim& aim, std::span<const double> b, solver::SolveReport& report);
  Excess collective_run(solver::KrylovMethod& method, SolveLimits& limits,
                        const solver::StopCriterion& stop, Aim& aim, std::span<const double> b,
                        const Excess& before, solver::SolveReport& report);
  double collective_norm_of_rows(std::span<const double> v) {
    return residual_.collective_norm(v, scales_.weight.span());
  }
  void collective_set_penalties(std::span<const double> b);
  void find_rest(std::span<const double> b);

  const solver::RowScales& scales_;
  spmv::SparseOperator& given_;
  bool may_go_on_;
  std::optional<spmv::SparseOperator> copy_;
  RowResidual residual_;
  perfmodel::HugePageBuffer<double> x_;
  perfmodel::HugePageBuffer<double> best_;  // x of the run before
  perfmodel::HugePageBuffer<double> r_;  // b − A·x
  perfmodel::HugePageBuffer<double> scaled_;  // L·r
};

}  // namespace weft::library
