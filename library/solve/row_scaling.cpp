#include "library/solve/row_scaling.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "spmv/problems/problem.h"

namespace weft::library {

using comm_thread::InputError;
using comm_thread::option_name;
using solver::SolveReport;
using solver::SolveStatus;

namespace {

/// True if rows differ as those of a diffusion with coefficients that jump do, not so much that
/// sums over all rows lose the small ones, and on a grid, for which multigrid needs them as they
/// are. 200 x 200 points in layers of 1 and 1e8, ms with set-up: multigrid 9 iterations, 5, scaled
/// with amg 21, 61. Without a grid amg is better scaled: squares of 1 and 1e9 12 iterations,
/// not 88.
bool has_jumps_on_grid(const solver::MatrixTraits& traits, const solver::RowScales& scales) {
  constexpr int most_places = 45;
  constexpr std::int64_t least_points = 27000;
  return traits.grid && traits.row_count >= least_points && traits.is_symmetric() &&
         traits.is_dominant() && traits.has_signs_of_m_matrix() && !scales.has_scaled_penalties &&
         scales.spread <= most_places;
}

}  // namespace

void RowScaling::forget() {
  residual_.reset();
  scaled_.reset();
  scales_.reset();
  matrix_ = nullptr;
}

void RowScaling::collective_look(spmv::SparseOperator& matrix, const solver::MatrixTraits& traits) {
  forget();
  matrix_ = &matrix;
  scales_ = solver::collective_find_row_scales(matrix, traits);
  const std::string& word = asked_.null_space;
  has_null_space_ = word.empty() ? traits.has_constant_null_space() : word != "none";
  const bool is_wanted =
      asked_.scale == "rows" || (asked_.scale == "auto" && asked_.method == "auto");
  if (!scales_ || !is_wanted) return;
  if (may_go_on_ && has_jumps_on_grid(traits, *scales_)) scales_->keep_values();
  const std::string why_not = obstacle();
  if (why_not.empty())
    scaled_ = std::make_unique<ScaledSystem>(matrix, *scales_, asked_.parsed_format(), may_go_on_);
  else if (asked_.scale == "rows")
    throw InputError(option_name("scale", "rows") + ": found with " + why_not + "; expected " +
                     option_name("scale", "none") + " or auto");
}

/// Why a scaled system cannot be solved in the place of the given one; empty where it can.
std::string RowScaling::obstacle() const {
  const bool has_modes = !asked_.near_null.empty() || !asked_.coordinates.empty() ||
                         asked_.block_size > 1 ||
                         context_.problem.kind == spmv::ProblemKind::elasticity3d;
  if (has_null_space_) return "a null space";
  if (context_.collective_make_preconditioner) return "a preconditioner of the caller";
  if (asked_.reuses_preconditioner) return "a preconditioner that is kept for other values";
  if (scales_->scaled_row_count == 0) return "";
  if (asked_.has_multigrid() || !asked_.grid.empty() || context_.problem.has_grid())
    return "multigrid on a grid";
  if (has_modes && scales_->has_other_rows) return "vectors that coarse levels keep";
  return "";
}

std::string RowScaling::decision() const {
  if (!scaled_) return "";
  if (!has_copy())
    return fmt::format(
        "rows differ in scale by up to {:.2g}, as coefficients that jump make them: the residual "
        "is small with each row divided by its scale, too",
        scales_->ratio());
  return fmt::format(
      "rows differ in scale by up to {:.2g}: {} of {} are scaled by powers of two, and the "
      "residual is small with each row divided by its scale, too",
      scales_->ratio(), scales_->scaled_row_count, matrix_->global_row_count());
}

void RowScaling::collective_judge(std::span<const double> b, std::span<const double> x,
                                  const solver::StopCriterion& stop, SolveReport& report) {
  const bool has_failed =
      report.status == SolveStatus::not_converged || report.status == SolveStatus::breakdown;
  if (!scales_ || scaled_ || (report.status != SolveStatus::converged && !has_failed)) return;
  if (!residual_) residual_ = std::make_unique<RowResidual>(*matrix_);
  std::vector<double> r(b.size());
  residual_->collective_find(b, x, r);
  const double whole = residual_->collective_norm(b, scales_->weight.span());
  const double rest = residual_->collective_norm(r, scales_->weight.span());
  if (has_failed) {
    // No x leaves less than the rounding of A·x, which is much in a row of a large scale.
    std::vector<double> sums(b.size());
    residual_->collective_find_magnitudes(b, x, sums);
    const double least = rounding_of_sums * residual_->collective_norm(sums, {});
    const double given = residual_->collective_norm(r, {});
    if (!(rest <= solver::StopRule::allowed_drift * stop.wanted_norm(whole)) ||
        !(given <= solver::StopRule::allowed_drift * least))
      return;
    report.status = SolveStatus::converged;
    report.scaled_residual = whole > 0 ? rest / whole : rest;
    report.explanation = RowResidual::is_rounding;
    return;
  }
  constexpr double much_more = 10;
  report.scaled_residual = whole > 0 ? rest / whole : rest;
  if (!(whole > 0) || rest <= much_more * stop.wanted_norm(whole)) return;
  report.explanation = fmt::format(
      "rows differ in scale by up to {:.2g}: the residual says nothing about most "
      "rows; with each row divided by its scale it is {:.2g} of b; {}",
      scales_->ratio(), rest / whole,
      obstacle().empty() ? option_name("method", "auto") + " or " + option_name("scale", "rows") +
                               " solves for all rows"
                         : "scale the system");
  if (rest > std::sqrt(stop.wanted_norm(whole) / whole) * whole)
    report.status = SolveStatus::not_converged;
}

}  // namespace weft::library
