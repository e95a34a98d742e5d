#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "library/measure/communication_cost.h"
#include "library/measure/settled_storage.h"
#include "library/measure/unfused_cg.h"
#include "library/options/solve_settings.h"
#include "library/settings/right_hand_side_choice.h"
#include "library/solve/solvable_system.h"
#include "library/system/linear_system.h"
#include "perfmodel/statistics.h"
#include "solver/choice/matrix_traits.h"
#include "solver/methods/method_table.h"
#include "spmv/modes/mode.h"
#include "spmv/problems/problem.h"
#include "tools/job/job_report.h"
#include "tools/job/option_binding.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/studies/study.h"
#include "tools/system/program_system.h"

namespace weft::tools {
namespace {

using perfmodel::Phase;

struct CgStudyOptions : ProblemStudyOptions {
  CgStudyOptions() { repetitions = 5; }
  std::vector<std::string> modes = spmv::mode_names();
  std::vector<std::string> methods = solver::names_of_methods(&solver::MethodFacts::is_cg_variant);
  std::string operator_kind;  // empty: a stencil where the problem has one
  std::int64_t iterations = 50;
  bool force = false;  // a matrix that is not symmetric

  bool is_matrix_free(const spmv::Problem& of) const {
    return operator_kind.empty() ? of.has_stencil() : operator_kind == "stencil";
  }
};

/// One variant in one mode.
class CgEntrant {
 public:
  /// Collective.
  CgEntrant(library::LinearSystem& system, const std::string& method, const std::string& mode,
            std::int64_t iterations)
      : method_(*solver::find_krylov_method(method)),
        mode_(mode),
        solver_(method_.collective_make(system.op(),
                                        {.mode = *spmv::parse_mode(mode),
                                         .stop = {.tolerance = std::numeric_limits<double>::min(),
                                                  .max_iterations = iterations},
                                         .on_iteration = nullptr})) {}

  /// Collective.
  void collective_run(const Job& job, std::span<const double> b, bool is_counted) {
    const solver::SolveReport report = solver_->solve(b);
    if (!is_counted || report.iterations == 0) return;
    const auto iterations = static_cast<double>(report.iterations);
    seconds_.push_back(job.world().max(report.phases.total()) / iterations);
    halo_.push_back(job.world().max(report.phases[Phase::halo_wait]) / iterations);
    reduction_.push_back(job.world().max(report.phases[Phase::reduction]) / iterations);
    residual_ = report.relative_residual;
  }

  Json report(const library::CommunicationCost& cost) const {
    const perfmodel::Statistics seconds = perfmodel::summarise(seconds_);
    const double halo = perfmodel::median(halo_);
    const double reduction = perfmodel::median(reduction_);
    return {{"method", method_.name},
            {"mode", mode_},
            {"seconds_per_iteration", seconds.median},
            {"spread", seconds.spread},
            {"vector_bytes_per_row", solver_->vector_bytes()},
            {"relative_residual", residual_},
            {"halo_wait_seconds", halo},
            {"halo_hidden_fraction",
             library::hidden_fraction(halo, method_.products, cost.halo_seconds)},
            {"reduction_wait_seconds", reduction},
            {"reduction_hidden_fraction",
             library::hidden_fraction(reduction, method_.reductions, cost.reduction_seconds)}};
  }
  bool has_run() const { return !seconds_.empty(); }

 private:
  const solver::KrylovEntry& method_;
  std::string mode_;
  std::unique_ptr<solver::KrylovMethod> solver_;
  std::vector<double> seconds_, halo_, reduction_;  // per iteration, of the slowest rank
  double residual_ = 0;
};

/// One problem. A variant's vectors are there only while its modes run: all at once might not fit.
Json collective_study(Job& job, const CgStudyOptions& options, const spmv::Problem& problem) {
  const auto made = collective_make_system(job, problem, options, options.is_matrix_free(problem));
  library::LinearSystem& system = *made;
  const auto columns =
      system.collective_right_hand_sides(library::choose_right_hand_side("", problem));
  const std::span<const double> b = columns.front().span();
  if (const spmv::SparseOperator* const matrix = system.matrix_operator()) {
    library::SolveSettings settings;
    settings.method = options.methods.front();
    settings.force = options.force;
    library::check_symmetry(settings, solver::collective_find_traits(*matrix), problem.name());
  }
  library::collective_settle_storage(job, system.op());
  const library::CommunicationCost cost =
      library::collective_measure_communication(job, system.op());
  std::vector<double> textbook;
  library::UnfusedCg unfused(job, system.op());
  Json runs = Json::array();
  for (const std::string& method : options.methods) {
    std::vector<std::unique_ptr<CgEntrant>> entrants;
    for (const std::string& mode : options.modes)
      entrants.push_back(std::make_unique<CgEntrant>(system, method, mode, options.iterations));
    for (int i = -1; i < options.repetitions; ++i) {
      const double seconds = unfused.collective_seconds_per_iteration(b, options.iterations);
      if (i >= 0) textbook.push_back(seconds);
      for (const auto& entrant : entrants) entrant->collective_run(job, b, i >= 0);
    }
    for (const auto& entrant : entrants)
      if (entrant->has_run()) runs.push_back(entrant->report(cost));
  }
  return {{"problem", problem.name()},
          {"rows", system.op().global_row_count()},
          {"ordering", ordering_report(system.ordering())},
          {"operator", system.format_name()},
          {"halo_seconds_alone", cost.halo_seconds},
          {"reduction_seconds_alone", cost.reduction_seconds},
          {"textbook_seconds_per_iteration", perfmodel::median(textbook)},
          {"textbook_relative_residual", unfused.relative_residual()},
          {"runs", std::move(runs)}};
}

void print_cg_study(const Json& report) {
  const Json& study = report["study"];
  fmt::print("run          {}, medians of {} runs of {} iterations\n", ranks_and_threads(report),
             study["repetitions"], study["iterations"]);
  for (const Json& each : study["problems"]) {
    const Json& textbook = each["textbook_seconds_per_iteration"];
    fmt::print("\n{}: {} rows, {}\n", each["problem"], each["rows"], each["operator"]);
    fmt::print("alone        halo {:.4f} ms, reduction {:.4f} ms\n",
               1e3 * number(each["halo_seconds_alone"]),
               1e3 * number(each["reduction_seconds_alone"]));
    Json runs = Json::array();
    runs.push_back(
        {{"method", "textbook loops"}, {"mode", "vector"}, {"seconds_per_iteration", textbook}});
    for (Json run : each["runs"]) {
      run["gain"] = textbook.get<double>() / run["seconds_per_iteration"].get<double>();
      runs.push_back(std::move(run));
    }
    print_table({column("method", -18, "/method"), column("mode", -14, "/mode"),
                 column("ms/iteration", 14, "/seconds_per_iteration", "{:.4f}", 1e3),
                 column("spread", 11, "/spread", "{:.4f}", 1e3),
                 column("x textbook", 12, "/gain", "{:.2f}"),
                 column("halo hidden", 13, "/halo_hidden_fraction", "{:.0f} %", 100),
                 column("reduction hidden", 18, "/reduction_hidden_fraction", "{:.0f} %", 100)},
                runs);
  }
}

int study(const comm_thread::MpiSession& session, const CLI::App& /*command*/,
          const CgStudyOptions& options) {
  return collective_study_problems(
      session, options,
      {{{"method", fmt::format("{}", fmt::join(options.methods, ","))},
        {"mode", fmt::format("{}", fmt::join(options.modes, ","))}},
       {{"parameter", "cg"}, {"iterations", options.iterations}}},
      [&](Job& job, const spmv::Problem& problem) {
        return collective_study(job, options, problem);
      },
      print_cg_study);
}

void add_options(CLI::App& command, CgStudyOptions& options) {
  command.add_option("problems", options.problems, "one or more, named as in weft solve")
      ->required()
      ->type_name("PROBLEM...");
  add_choices(command, "--modes", options.modes, spmv::mode_names(),
              "halo exchange: vector waits, overlap computes first, overlap-test tests at\n"
              "intervals, task uses the communication thread");
  add_choices(command, "--methods", options.methods,
              solver::names_of_methods(&solver::MethodFacts::is_cg_variant),
              "variants of conjugate gradients, separated by commas");
  add_operator_option(command, options.operator_kind);
  bind_options(command, options, library::matrix_options(), {"triangle", "base"});
  command.add_flag("--force", options.force, "run on a matrix that is not symmetric, too");
  add_count(command, "--iterations", options.iterations, 1, 1'000'000, "iterations of each run");
  add_repetitions(command, options.repetitions);
  add_job_options(command, options);
  command.footer(
      "Examples:\n"
      "  weft study cg poisson3d:256 --methods cg,cg-one-reduction --modes task\n"
      "  mpiexec.mpich -n 2 weft study cg poisson3d:100 poisson3d:200 --json cg.json");
}

}  // namespace

/// The study beside a textbook's unfused loops.
/// Source: Hoefler et al. 2007, sections 5 and 6 (blocking against non-blocking halos).
void add_cg_study(const StudyProgram& program) {
  program.add<CgStudyOptions>("cg", "compare the variants of conjugate gradients in every mode");
}

}  // namespace weft::tools
