#include "tools/commands/generate_command.h"

#include <memory>
#include <string>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "library/options/matrix_settings.h"
#include "spmv/formats/matrix_file.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/system/program_system.h"

namespace weft::tools {
namespace {

struct GenerateOptions : SystemOptions, library::MatrixSettings {
  std::string path;
};

int generate(const comm_thread::MpiSession& session, const GenerateOptions& options) {
  const auto problem = spmv::Problem::parse(options.problem);
  spmv::check_matrix_output(options.path);
  if (options.partition == "metis")
    throw comm_thread::InputError(
        "--partition: found metis, whose order depends on the ranks; expected rows or nonzeros for "
        "a file");
  Job job = collective_start_job(session, options);
  const ReportFile report_file(job, options.json_path);
  spmv::collective_check_matrix_output(job.world(), options.path);
  const auto loaded = library::collective_order_matrix(
      job.world(), job.team(), collective_load_for_file(job, problem, options), options,
      problem.name());
  const auto& matrix = loaded.matrix;
  const std::string comment = problem.name() + (loaded.order ? " --order " + options.order : "");
  spmv::collective_write_matrix_file(job.world(), matrix, options.path, comment);

  Json report = collective_start_report(job, "generate");
  report["problem"] = {{"name", problem.name()},
                       {"rows", matrix.partition.row_count()},
                       {"nonzeros", matrix.global_nonzero_count}};
  const Json ordering = ordering_report(loaded);
  if (!ordering.is_null()) report["ordering"] = ordering;
  report["file"] = options.path;
  if (report_file.collective_write(report)) {
    print_ordering(ordering);
    fmt::print("wrote {}: {} rows, {} nonzeros\n", options.path, matrix.partition.row_count(),
               matrix.global_nonzero_count);
  }
  return 0;
}

}  // namespace

void add_generate_command(CLI::App& program, const comm_thread::MpiSession& session,
                          int& exit_code) {
  const auto options = std::make_shared<GenerateOptions>();
  CLI::App& command = *program.add_subcommand("generate", "write a matrix to a file");
  add_problem_option(command, *options).required();
  bind_options(command, *options, library::matrix_options(),
               {"partition", "order", "triangle", "base"});
  command
      .add_option(
          "file", options->path,
          "file to write: Matrix Market .mtx or .mtx.gz, PETSc .petsc or .bin, SciPy .npz,\n"
          "HDF5 .h5")
      ->required()
      ->type_name("FILE");
  add_job_options(command, *options);
  command.footer(
      "Examples:\n"
      "  weft generate poisson3d:50 poisson.mtx\n"
      "  weft generate irregular:100000,nnzr=20,bandwidth=500,seed=3 matrix.mtx.gz\n"
      "  weft generate matrix.mtx narrow.mtx --order rcm");
  command.callback([options, &session, &exit_code] { exit_code = generate(session, *options); });
}

}  // namespace weft::tools
