#include "tools/commands/solve_command.h"

#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "library/settings/right_hand_side_choice.h"
#include "library/system/file_sequence.h"
#include "library/system/numbered_files.h"
#include "perfmodel/stopwatch.h"
#include "solver/report/solve_report.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/formats/vtk_file.h"
#include "tools/commands/solve_run.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/system/job_checkpoints.h"
#include "tools/system/solve_options.h"

namespace weft::tools {
namespace {

/// Throws comm_thread::InputError where x cannot be written to a file of this name.
void check_solution_path(const std::string& path, const spmv::Problem& problem) {
  if (!spmv::is_vtk_file(path)) return spmv::check_vector_output(path);
  if (!problem.has_row_per_point())
    throw comm_thread::InputError(path + ": found with " + problem.name() +
                                  "; expected a problem on a grid, or another ending");
}

/// Checks what can be before the job begins, and says what is not given.
spmv::RightHandSide settle(const CLI::App& command, int rank_count, SolveOptions& options) {
  const auto problem = spmv::Problem::parse(options.problem);
  options.set_defaults(problem, rank_count);
  options.check(command);
  if (!options.solution_path.empty()) check_solution_path(options.solution_path, problem);
  if (!options.initial_path.empty()) spmv::check_vector_file(options.initial_path);
  auto right_hand_side = library::choose_right_hand_side(options.right_hand_side, problem);
  options.right_hand_side = right_hand_side.name();
  return right_hand_side;
}

/// Solves with the matrices of a sequence, a line for each. Returns the exit code. Collective.
int collective_solve_files(Job& job, const SolveOptions& options) {
  const ReportFile file(job, options.json_path);
  Json report = collective_start_report(job, "solve");
  JobCheckpoints checkpoints(job, options.checkpoints);
  const library::SolveSettings& settings = options;
  library::FileSequence files(job.crew(), settings, options.sequence, options.right_hand_side,
                              checkpoints.get());
  const bool prints = file.is_beside_summary();
  if (prints) fmt::print("{}\n", library::FileSequence::Step::heading());
  while (const auto step = files.collective_next()) {
    if (prints) fmt::print("{}\n", step->line());
    report["sequence"].push_back(step->json());
  }
  std::string explanation;
  checkpoints.finish(files.status(), explanation);
  if (prints && !explanation.empty()) fmt::print("stopped {}\n", explanation);
  report["status"] = solver::name(files.status());
  file.collective_write(report);
  return checkpoints.exit_code(files.status());
}

int solve(const comm_thread::MpiSession& session, int rank_count, const CLI::App& command,
          SolveOptions options) {
  const perfmodel::Stopwatch watch;
  const bool is_sequence = !options.sequence.empty();
  if (is_sequence && options.problem.empty())
    options.problem = library::NumberedFiles(options.sequence).path(0);
  const auto right_hand_side = settle(command, rank_count, options);
  Job job = collective_start_job(session, options);
  if (is_sequence) return collective_solve_files(job, options);
  return collective_solve_system(job, std::move(options), right_hand_side, watch);
}

}  // namespace

void add_solve_command(CLI::App& program, const comm_thread::MpiSession& session, int rank_count,
                       int& exit_code) {
  const auto options = std::make_shared<SolveOptions>();
  CLI::App& command =
      *program.add_subcommand("solve", "solve A x = b by conjugate gradients, GMRES or multigrid");
  add_solve_options(command, *options);
  add_trace_option(command, *options);
  command.footer(
      "Examples:\n"
      "  weft solve poisson3d:128\n"
      "  weft solve matrix.mtx      (chooses method and preconditioner, and says why)\n"
      "  weft solve poisson3d:256 --method multigrid\n"
      "  weft solve poisson3d:256 --operator stencil --method cg-one-reduction\n"
      "  weft solve matrix.mtx --preconditioner multigrid --grid 40x50x60\n"
      "  weft solve matrix.mtx.gz --preconditioner jacobi --tolerance 1e-10 --solution x.mtx\n"
      "  mpiexec.mpich -n 4 weft solve matrix.mtx --order rcm --partition metis\n"
      "  weft solve poisson3d:64 --preconditioner schwarz:subdomains=16,overlap=2\n"
      "  weft solve --sequence 'A_%03d.petsc' --rhs 'b_%03d.petsc' --preconditioner amg\n"
      "  weft solve matrix.mtx.gz --preconditioner amg\n"
      "  weft solve matrix.mtx --rhs columns.npy --solution x.npy\n"
      "  weft solve matrix.mtx --initial x.mtx --max-seconds 60 --solution x.mtx\n"
      "  weft solve matrix.mtx --checkpoint state --checkpoint-every 10min\n"
      "  weft solve matrix.mtx --restart-from state --checkpoint state\n"
      "  weft solve poisson2d:500x300 --rhs random:7 --mode vector --json report.json\n"
      "  mpiexec.mpich -n 4 weft solve poisson3d:200 --method auto\n"
      "  mpiexec.mpich -n 2 weft solve poisson3d:100 --trace trace.json\n"
      "Exit code: 0 converged, 3 not converged, 6 out of time, 2 bad input,\n"
      "128 + N: ended by signal N with a checkpoint.");
  command.callback([options, &command, &session, rank_count, &exit_code] {
    if (options->sequence.empty() && command.count("problem") == 0)
      throw CLI::RequiredError("problem");
    exit_code = solve(session, rank_count, command, *options);
  });
}

}  // namespace weft::tools
