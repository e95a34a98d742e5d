#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm_thread/mpi/input_error.h"
#include "library/options/preconditioner_words.h"
#include "library/options/solve_settings.h"
#include "library/settings/preconditioner_choice.h"
#include "library/solve/row_scaling.h"
#include "library/solve/solve_context.h"
#include "library/system/linear_system.h"
#include "perfmodel/statistics.h"
#include "perfmodel/stopwatch.h"
#include "solver/amg/polynomial.h"
#include "solver/choice/matrix_traits.h"
#include "solver/methods/method_table.h"
#include "solver/report/stop_criterion.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"
#include "spmv/problems/problem.h"
#include "tools/job/job_report.h"
#include "tools/job/option_binding.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/reporting/solve_levels.h"
#include "tools/studies/study.h"
#include "tools/system/program_system.h"

namespace weft::tools {
namespace {

struct AmgStudyOptions : SolveStudyOptions {
  std::vector<std::string> cycles{"V", "W"};
  std::vector<int> degrees{2};
  std::vector<double> strengths{0.25};
  std::vector<std::string> modes{"task"};

  /// Throws comm_thread::InputError.
  void check() const {
    for (const int degree : degrees)
      if (degree < 1 || degree > solver::amg::Polynomial::most_degree)
        throw comm_thread::InputError(
            fmt::format("--degrees: found {}; expected numbers from 1 to {}", degree,
                        solver::amg::Polynomial::most_degree));
    for (const double strength : strengths)
      if (!(strength >= 0 && strength <= 1))
        throw comm_thread::InputError(
            fmt::format("--strengths: found {:g}; expected numbers from 0 to 1", strength));
  }
};

/// Conjugate gradients with one variant.
class AmgEntrant {
 public:
  /// `variant`: what it differs by. Collective. Throws comm_thread::InputError.
  AmgEntrant(const Job& job, library::LinearSystem& system, const AmgStudyOptions& options,
             const spmv::Problem& problem, Json variant)
      : variant_(std::move(variant)) {
    library::SolveSettings& settings = settings_;
    settings.scale = "none";
    settings.order = options.order_of(problem);
    settings.partition = options.partition;
    settings.mode = variant_["mode"].get<std::string>();
    settings.method = "cg";
    settings.preconditioner =
        fmt::format("amg:degree={},strength={}", variant_["degree"], variant_["strength"]);
    settings.cycle = variant_["cycle"].get<std::string>();
    const perfmodel::Stopwatch watch;
    method_stop_ = {.tolerance = options.tolerance, .max_iterations = most_iterations};
    made_ = library::collective_make_preconditioner(system.op(), settings, problem);
    setup_seconds_ = job.world().max(watch.seconds());
    method_ = solver::find_krylov_method(settings.method)
                  ->collective_make(system.op(), {.mode = *spmv::parse_mode(settings.mode),
                                                  .preconditioner = made_.object.get(),
                                                  .stop = method_stop_,
                                                  .on_iteration = {}});
    levels_.emplace(*method_, made_.object.get());
    spmv::SparseOperator& matrix = *system.matrix_operator();
    rows_.collective_look(matrix, solver::collective_find_traits(matrix));
  }

  /// Collective.
  void collective_run(const Job& job, std::span<const double> b, bool is_counted) {
    last_ = method_->solve(b);
    rows_.collective_judge(b, method_->solution(), method_stop_, last_);
    if (is_counted)
      seconds_.push_back(job.world().max(last_.solve_seconds));
    else
      levels_->forget_times();
  }

  /// Collective; complete on rank 0.
  Json collective_report(const Job& job, comm_thread::CommThread& comm_thread) {
    const perfmodel::Statistics seconds = perfmodel::summarise(seconds_);
    const auto iterations = static_cast<double>(std::max<std::int64_t>(last_.iterations, 1));
    Json amg = levels_->collective_report(job, comm_thread, setup_seconds_);
    double alone = 0;
    double waited = 0;
    std::int64_t messages = 0;
    for (const Json& level : amg["levels"]) {
      alone += level["halo"]["seconds_alone"].get<double>();
      waited += level["halo"]["seconds_waited"].get<double>();
      messages += level["halo"]["messages"].get<std::int64_t>();
    }
    const Json hidden = alone > 0 ? Json(std::clamp(1 - waited / alone, 0.0, 1.0)) : Json(nullptr);
    Json report = variant_;
    report.update({{"status", solver::name(last_.status)},
                   {"iterations", last_.iterations},
                   {"relative_residual", last_.relative_residual},
                   {"seconds", seconds.median},
                   {"spread", seconds.spread},
                   {"seconds_per_iteration", seconds.median / iterations},
                   {"setup_seconds", setup_seconds_},
                   {"messages_per_cycle", messages},
                   {"hidden_fraction", hidden},
                   {"amg", std::move(amg)}});
    return report;
  }

 private:
  static constexpr std::int64_t most_iterations = 1000;

  Json variant_;
  library::SolveSettings settings_;
  library::SystemContext context_;
  library::RowScaling rows_{settings_, context_, false};
  solver::StopCriterion method_stop_;
  library::MadePreconditioner made_;
  std::unique_ptr<solver::KrylovMethod> method_;
  std::optional<SolveLevels> levels_;
  double setup_seconds_ = 0;
  std::vector<double> seconds_;
  solver::SolveReport last_;
};

/// One problem.
Json collective_study(Job& job, const AmgStudyOptions& options, const spmv::Problem& problem) {
  const auto system = collective_make_system(job, problem, options, false);
  return {{"problem", problem.name()},
          {"rows", system->op().global_row_count()},
          {"ordering", ordering_report(system->ordering())},
          {"runs", collective_run_in_turn<AmgEntrant>(job, *system, options, problem,
                                                      combinations({{"cycle", options.cycles},
                                                                    {"degree", options.degrees},
                                                                    {"strength", options.strengths},
                                                                    {"mode", options.modes}}))}};
}

/// What each level sends in a cycle, the finest first.
std::string messages_of(const Json& run) {
  std::vector<std::int64_t> counts;
  for (const Json& level : run["amg"]["levels"])
    counts.push_back(level["halo"]["messages"].get<std::int64_t>());
  return fmt::format("  {}", fmt::join(counts, " "));
}

std::string hidden_in(const Json& run) {
  const Json& hidden = run["hidden_fraction"];
  return hidden.is_null() ? "-" : fmt::format("{:.0f} %", 100 * number(hidden));
}

void print_amg_study(const Json& report) {
  print_problem_tables(report, false,
                       {column("cycle", -10, "/cycle"),
                        column("degree", 7, "/degree"),
                        column("strength", 10, "/strength", "{:g}"),
                        column("mode", 14, "/mode"),
                        column("iterations", 11, "/iterations"),
                        column("set-up s", 11, "/setup_seconds", "{:.3f}"),
                        column("s", 9, "/seconds", "{:.3f}"),
                        column("ms/cycle", 11, "/seconds_per_iteration", "{:.3f}", 1e3),
                        {"hidden", 9, hidden_in},
                        {"  messages by level", 0, messages_of}});
}

int study(const comm_thread::MpiSession& session, const CLI::App& /*command*/,
          const AmgStudyOptions& options) {
  options.check();
  return collective_study_problems(
      session, options,
      {{{"method", "cg"}}, {{"parameter", "amg"}, {"tolerance", options.tolerance}}},
      [&](Job& job, const spmv::Problem& problem) {
        return collective_study(job, options, problem);
      },
      print_amg_study);
}

void add_options(CLI::App& command, AmgStudyOptions& options) {
  add_solve_study_options(command, options, "one or more problems");
  bind_options(command, options, library::matrix_options(), {"triangle", "base", "format"});
  add_list(command, "--cycles", options.cycles, "as --cycle of weft solve", "V|W|auto,...")
      ->check([](const std::string& text) {
        return fault_of([&] { library::parse_amg("amg:cycle=" + text); });
      });
  add_list(command, "--degrees", options.degrees, "of the smoothing polynomial, 1 to 4", "K,...");
  add_list(command, "--strengths", options.strengths,
           "share of a row's strongest coupling from which one is strong", "S,...");
  add_choices(command, "--modes", options.modes, spmv::mode_names(),
              "halo exchange, as in weft solve");
  add_job_options(command, options);
  show_in_help(command, library::OptionGroup::method, {"--cycles", "--degrees", "--strengths"});
  show_in_help(command, library::OptionGroup::run, {"--modes"});
  command.footer(
      "Examples:\n"
      "  weft study amg poisson3d:64 diffusion3d:56,lognormal:3\n"
      "  mpiexec.mpich -n 2 weft study amg poisson3d:64 --cycles V,W --modes vector,task\n"
      "All variants have their memory at once.\n"
      "tools/run study ... --plot FILE.svg draws the report.");
}

}  // namespace

void add_amg_study(const StudyProgram& program) {
  program.add<AmgStudyOptions>(
      "amg", "compare cycles, smoothing, strengths and modes of algebraic multigrid");
}

}  // namespace weft::tools
