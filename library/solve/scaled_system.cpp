#include "library/solve/scaled_system.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/placement/compute_team.h"
#include "library/solve/value_range.h"
#include "perfmodel/phase_times.h"
#include "solver/report/stop_rule.h"
#include "spmv/modes/mode.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::library {
namespace {

using comm_thread::TeamThread;
using solver::SolveReport;
using solver::SolveStatus;
using solver::StopRule;
using spmv::LocalIndex;

/// L·A·C: other values in the pattern of A.
spmv::DistributedMatrix collective_scale(spmv::SparseOperator& given,
                                         const solver::RowScales& scales) {
  const spmv::CrsMatrix& rows = given.matrix().matrix().rows;
  perfmodel::HugePageBuffer<double> values(rows.values.size());
  const auto of_columns = given.collective_make_vector();
  perfmodel::HugePageBuffer<double> product(given.element_count());
  perfmodel::PhaseTimer not_reported;
  given.team().run([&](const TeamThread& thread) {
    const auto bounds = given.matrix().thread_rows();
    const auto begin = bounds[static_cast<std::size_t>(thread.index)];
    const auto end = bounds[static_cast<std::size_t>(thread.index) + 1];
    for (LocalIndex row = begin; row < end; ++row)
      of_columns->values()[row] = scales.right[static_cast<std::size_t>(row)];
    // A product brings the factors of other ranks' columns.
    given.apply(thread, spmv::Mode::vector, *of_columns, product.data(), not_reported, {});
    thread.barrier();
    for (LocalIndex row = begin; row < end; ++row) {
      const auto i = static_cast<std::size_t>(row);
      for (auto k = static_cast<std::size_t>(rows.row_offsets[i]);
           k < static_cast<std::size_t>(rows.row_offsets[i + 1]); ++k)
        values[k] = rows.values[k] * scales.left[i] * of_columns->data()[rows.columns[k]];
    }
  });
  return with_values(given, std::move(values));
}

/// What a run is to reach that begins after so many iterations with `excess` times the norm that is
/// wanted: its own norm is another one, which falls about as much.
solver::StopCriterion stop_of_run(const solver::StopCriterion& stop, double excess,
                                  std::int64_t iterations) {
  constexpr double room = 0.5;
  solver::StopCriterion of_run = stop;
  of_run.tolerance = std::max(stop.tolerance, room / excess);
  of_run.absolute_tolerance = 0;  // of b, not of what is left of it
  of_run.max_iterations = stop.max_iterations - iterations;
  return of_run;
}

/// Adds what another run has taken.
void add_costs(const SolveReport& run, SolveReport& sum) {
  sum.iterations += run.iterations;
  sum.restarts += run.restarts;
  sum.solve_seconds += run.solve_seconds;
  sum.comm_thread_cpu_seconds += run.comm_thread_cpu_seconds;
  for (std::size_t i = 0; i < perfmodel::phase_count; ++i)
    sum.phases[static_cast<perfmodel::Phase>(i)] += run.phases[static_cast<perfmodel::Phase>(i)];
}

}  // namespace

double ScaledSystem::forecast_bytes(const solver::MatrixSize& size, double element_count) {
  constexpr double arrays = 10;
  constexpr double sliced = 12.7;
  const double of_nonzero = 8 + (size.may_be_sliced && size.has_many_products ? sliced : 0);
  return of_nonzero * size.nonzeros / size.rank_count +
         8 * (arrays * element_count + size.halo_per_rank);
}

ScaledSystem::ScaledSystem(spmv::SparseOperator& given, const solver::RowScales& scales,
                           spmv::MatrixFormat format, bool may_go_on)
    : scales_(scales),
      given_(given),
      may_go_on_(may_go_on),
      residual_(given),
      x_(given.element_count()),
      best_(given.element_count()),
      r_(given.element_count()),
      scaled_(given.element_count()) {
  if (scales.scaled_row_count > 0)
    copy_.emplace(given.communicator(), given.comm_thread(), given.team(),
                  collective_scale(given, scales), format);
}

std::vector<double> ScaledSystem::constant() const {
  if (!scales_.has_other_rows) return {};
  std::vector<double> vector(x_.size());
  for (std::size_t i = 0; i < vector.size(); ++i)
    vector[i] = scales_.penalty[i] != 0 ? 1 : 1 / scales_.right[i];
  return vector;
}

void ScaledSystem::scale_residual(std::span<const double> v, std::span<double> to) const {
  for (std::size_t i = 0; i < v.size(); ++i) to[i] = scales_.left[i] * v[i];
}

void ScaledSystem::scale_solution(std::span<const double> v, std::span<double> to) const {
  for (std::size_t i = 0; i < v.size(); ++i) to[i] = scales_.right[i] * v[i];
}

/// One step of Jacobi's method on the rows of penalties, from r at the present x.
void ScaledSystem::collective_set_penalties(std::span<const double> b) {
  for (std::size_t i = 0; i < x_.size(); ++i)
    if (scales_.penalty[i] != 0) x_[i] += r_[i] / scales_.penalty[i];
  residual_.collective_find(b, x_.span(), r_.span());
}

/// L·r without what is rounding: in a row of 1e30 that is much, and no x leaves less.
void ScaledSystem::find_rest(std::span<const double> b) {
  for (std::size_t i = 0; i < r_.size(); ++i) {
    const double penalty = scales_.penalty[i];
    const double least = rounding_of_sums * std::max(std::abs(penalty * x_[i]), std::abs(b[i]));
    scaled_[i] = penalty != 0 && std::abs(r_[i]) <= least ? 0 : scales_.left[i] * r_[i];
  }
}

/// Sets x to where the solve begins, and r to its residual.
ScaledSystem::Aim ScaledSystem::collective_begin(const solver::StopCriterion& stop,
                                                 std::span<const double> b,
                                                 const solver::Guess& guess) {
  Aim aim{.given_norm = residual_.collective_norm(b, {}), .row_norm = collective_norm_of_rows(b)};
  aim.has_b = aim.row_norm > 0 && std::isfinite(aim.row_norm);
  // No residual falls below the rounding of b.
  aim.wanted_given = std::max(stop.wanted_norm(aim.given_norm), rounding_of_sums * aim.given_norm);
  aim.wanted_of_rows = stop.wanted_norm(aim.row_norm);
  if (guess && aim.has_b)
    std::ranges::copy(*guess, x_.data());
  else
    std::ranges::fill(x_.span(), 0.0);
  residual_.collective_find(b, x_.span(), r_.span());
  if (aim.has_b) collective_set_penalties(b);
  return aim;
}

/// How many times r is as large as is wanted.
ScaledSystem::Excess ScaledSystem::collective_judge(const Aim& aim, std::span<const double> b,
                                                    SolveReport& report) {
  // No residual falls below the rounding of A·x, which is much in a row of a large scale.
  residual_.collective_find_magnitudes(b, x_.span(), scaled_.span());
  double least_given = rounding_of_sums * residual_.collective_norm(scaled_.span(), {});
  if (!std::isfinite(least_given)) least_given = 0;
  const double given = residual_.collective_norm(r_.span(), {});
  const double of_rows = collective_norm_of_rows(r_.span());
  report.relative_residual = aim.given_norm > 0 ? given / aim.given_norm : given;
  report.scaled_residual = aim.row_norm > 0 ? of_rows / aim.row_norm : of_rows;
  const auto ratio = [](double norm, double wanted) { return norm == 0 ? 0 : norm / wanted; };
  return {ratio(given, std::max(aim.wanted_given, least_given)),
          ratio(of_rows, aim.wanted_of_rows)};
}

/// One run of the method, for what is left of b; x stays where it leaves more than `before` in both
/// norms. Returns the excess then.
ScaledSystem::Excess ScaledSystem::collective_run(solver::KrylovMethod& method, SolveLimits& limits,
                                                  const solver::StopCriterion& stop, Aim& aim,
                                                  std::span<const double> b, const Excess& before,
                                                  SolveReport& report) {
  find_rest(b);
  const double scaled_norm = residual_.collective_norm(scaled_.span(), {});
  if (aim.first_norm < 0) aim.first_norm = scaled_norm;
  const double share = *report.scaled_residual;
  method.set_stop(stop_of_run(stop, before.most(), report.iterations));
  limits.begin_run(report.iterations, aim.first_norm > 0 ? scaled_norm / aim.first_norm : 1);
  SolveReport run = method.solve(scaled_.span());
  limits.judge(run);
  add_costs(run, report);
  report.status = run.status;
  report.explanation = run.explanation;
  report.recurrence_residual = share * run.recurrence_residual;
  std::ranges::copy(x_.span(), best_.data());
  const std::span<const double> y = method.solution();
  for (std::size_t i = 0; i < y.size(); ++i) x_[i] += scales_.right[i] * y[i];
  residual_.collective_find(b, x_.span(), r_.span());
  if (aim.has_b) collective_set_penalties(b);
  // A matrix that is not symmetric hides rows of a large scale from the method at first: what they
  // leave may grow while W·r falls, and falls with it in the next run.
  const Excess found = collective_judge(aim, b, report);
  if (found.most() <= before.most() || found.of_rows <= before.of_rows) return found;
  std::swap(x_, best_);
  residual_.collective_find(b, x_.span(), r_.span());
  return collective_judge(aim, b, report);
}

SolveReport ScaledSystem::collective_solve(solver::KrylovMethod& method, SolveLimits& limits,
                                           const solver::StopCriterion& stop,
                                           std::span<const double> b, const solver::Guess& guess) {
  Aim aim = collective_begin(stop, b, guess);
  SolveReport report;
  Excess excess = collective_judge(aim, b, report);
  bool may_repeat = !aim.has_b || !(excess.most() <= StopRule::allowed_drift);
  bool has_gained = true;
  while (may_repeat) {
    const Excess before = excess;
    excess = collective_run(method, limits, stop, aim, b, before, report);
    has_gained = excess.most() < StopRule::least_gain * before.most() ||
                 excess.of_rows < StopRule::least_gain * before.of_rows;
    const bool has_ended =
        report.status == SolveStatus::converged || report.status == SolveStatus::not_converged;
    may_repeat = !(excess.most() <= StopRule::allowed_drift) && has_ended && has_gained &&
                 may_go_on_ && report.iterations < stop.max_iterations;
  }
  if (excess.most() <= StopRule::allowed_drift) {
    report.status = SolveStatus::converged;
    const bool is_rounding =
        report.relative_residual * aim.given_norm > StopRule::allowed_drift * aim.wanted_given;
    report.explanation = is_rounding ? RowResidual::is_rounding : "";
    report.recurrence_residual = std::min(report.recurrence_residual, *report.scaled_residual);
  } else if (report.status == SolveStatus::converged) {
    report.status = SolveStatus::not_converged;
    const bool is_given =
        report.relative_residual * aim.given_norm > StopRule::allowed_drift * aim.wanted_given;
    report.explanation = fmt::format("{}the residual is {:.3g} of b{}",
                                     is_given ? "" : "with each row divided by its scale ",
                                     is_given ? report.relative_residual : *report.scaled_residual,
                                     has_gained ? "" : " and does not fall");
  }
  return report;
}

}  // namespace weft::library
