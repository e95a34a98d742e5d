#include "library/solve/solve_description.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "perfmodel/phase_times.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft {
inline namespace v0 {

static_assert(static_cast<int>(Status::out_of_time) ==
              static_cast<int>(solver::SolveStatus::out_of_time));

const char* name(Status status) { return solver::name(static_cast<solver::SolveStatus>(status)); }

std::string Report::json() const {
  library::Json report{{"weft", WEFT_VERSION}};
  report.update(library::json_of(*this));
  // A name of a file may be anything.
  return report.dump(-1, ' ', false, library::Json::error_handler_t::replace);
}

}  // namespace v0

namespace library {
namespace {

/// The preconditioner with its parameters; `auto` may have made a cycle that nobody named.
std::string name_of_preconditioner(const ChosenSolver& solver) {
  const SolveSettings& used = solver.settings();
  if (solver.has_preconditioner_of_caller()) return "of the caller";
  if (used.has_jacobi()) return "jacobi";
  const bool has_chosen_cycle = used.method == "auto" && used.preconditioner == "none" &&
                                solver.preconditioner() && !solver.entry().needs_grid;
  return has_chosen_cycle ? "multigrid" : used.preconditioner;
}

}  // namespace

Report describe(const ChosenSolver& solver, const solver::SolveReport& solved,
                const spmv::LinearOperator& op, std::string format) {
  Report report;
  report.status = status_of(solved.status);
  report.explanation = solved.explanation;
  report.method = solver.entry().name;
  report.preconditioner = name_of_preconditioner(solver);
  report.mode = solver.settings().mode;
  report.method_choice = solver.method_choice();
  report.decisions = solver.decisions();
  report.null_space = solver.null_space();
  report.iterations = solved.iterations;
  report.restarts = solved.restarts;
  report.relative_residual = solved.relative_residual;
  report.scaled_residual = solved.scaled_residual;
  report.recurrence_residual = solved.recurrence_residual;
  report.solve_seconds = solved.solve_seconds;
  for (std::size_t i = 0; i < perfmodel::phase_count; ++i) {
    const auto phase = static_cast<perfmodel::Phase>(i);
    report.phase_seconds.emplace_back(perfmodel::name(phase), solved.phases[phase]);
  }
  report.matrix_format = std::move(format);
  const auto* const matrix = dynamic_cast<const spmv::SparseOperator*>(&op);
  for (const int width : {1, 2, 4, 8}) {
    const auto times = matrix ? matrix->matrix().storage_times(width) : std::nullopt;
    if (!times) continue;
    const std::string of_many = width == 1 ? "" : fmt::format(", {} vectors", width);
    report.product_seconds.emplace_back("CRS" + of_many, times->crs_seconds);
    report.product_seconds.emplace_back("SELL-8" + of_many, times->sell_seconds);
  }
  return report;
}

Json outcome_json(const Report& report) {
  Json outcome{{"status", name(report.status)},
               {"iterations", report.iterations},
               {"relative_residual", report.relative_residual},
               {"recurrence_residual", report.recurrence_residual},
               {"restarts", report.restarts}};
  if (report.scaled_residual) outcome["scaled_residual"] = *report.scaled_residual;
  if (!report.explanation.empty()) outcome["explanation"] = report.explanation;
  return outcome;
}

Json json_of(const Report& report) {
  Json json{{"method", report.method},
            {"preconditioner", report.preconditioner.substr(0, report.preconditioner.find(':'))},
            {"mode", report.mode}};
  if (!report.method_choice.empty()) json["method_choice"] = report.method_choice;
  if (!report.mode_choice.empty()) json["mode_choice"] = report.mode_choice;
  if (!report.decisions.empty()) json["decisions"] = report.decisions;
  if (!report.null_space.empty()) json["null_space"] = report.null_space;
  json.update(outcome_json(report));
  if (!report.set_up.empty())
    json["recycled"] = {{"set_up", report.set_up}, {"earlier_solutions", report.earlier_solutions}};
  json["seconds"] = {{"setup", report.setup_seconds}, {"solve", report.solve_seconds}};
  for (const auto& [phase, seconds] : report.phase_seconds)
    json["phases"][phase] = {{"min", seconds}, {"mean", seconds}, {"max", seconds}};
  json["performance"]["matrix_format"] = report.matrix_format;
  for (const auto& [format, seconds] : report.product_seconds)
    json["performance"]["product_seconds"][format] = seconds;
  std::int64_t iteration = 0;
  for (const double residual : report.history)
    json["history"].push_back({++iteration, nullptr, residual});
  return json;
}

}  // namespace library
}  // namespace weft
