#include "tools/job/system_options.h"

#include "spmv/problems/problem.h"

namespace weft::tools {
namespace {

using library::OptionGroup;

const library::OptionTable<SystemOptions>& system_options() {
  using V = library::Values<SystemOptions>;
  static const library::OptionTable<SystemOptions> all{
      {"threads", OptionGroup::run,
       "compute threads of a rank; 0: one for each core\n"
       "that it was given, as far as a container's quota of processor time goes",
       V::whole(&SystemOptions::threads, 0, 65536, "T")},
      {"strict-placement", OptionGroup::rest,
       "with --threads: refuse to let two compute threads share a\nhardware thread",
       V::flag(&SystemOptions::strict_placement)},
      {"pin-beyond-mask", OptionGroup::rest,
       "use all cores that the cpuset permits, whatever mask weft was started with\n"
       "(taskset, a job, a launcher)",
       V::flag(&SystemOptions::pin_beyond_mask)},
      {"json", OptionGroup::output,
       "writes the report as JSON; -: on standard output\ninstead of the summary",
       V::text(&SystemOptions::json_path, "FILE|-")},
      {"dry-run", OptionGroup::run, "only forecasts the memory\nthat each rank and node will need",
       V::flag(&SystemOptions::is_dry_run)},
      {"trace", OptionGroup::output,
       "writes what every thread did and when\n"
       "for https://ui.perfetto.dev or chrome://tracing: JSON, compressed where FILE ends in\n"
       ".gz; of each thread the newest 65536 events",
       V::text(&SystemOptions::trace_path, "FILE")}};
  return all;
}

}  // namespace

CLI::Option& add_problem_option(CLI::App& command, SystemOptions& options) {
  return *command
              .add_option("problem", options.problem,
                          "poisson3d:N, elasticity3d:N, ..., or a file .mtx, .petsc, .npz, .h5, "
                          ".txt, ...\n" +
                              std::string(spmv::Problem::words()))
              ->type_name("PROBLEM")
              ->group(heading_of(OptionGroup::problem));
}

void add_operator_option(CLI::App& command, std::string& kind) {
  add_choice(command, "--operator", kind, {"matrix", "stencil"},
             "a stored matrix, or a stencil\n"
             "of grid problems only, cut in three directions: no stored matrix");
  command.get_option("--operator")->group(heading_of(OptionGroup::method));
}

void add_job_options(CLI::App& command, SystemOptions& options) {
  bind_options(command, options, system_options(),
               {"threads", "strict-placement", "pin-beyond-mask", "json"});
}

void add_dry_run_option(CLI::App& command, SystemOptions& options) {
  bind_options(command, options, system_options(), {"dry-run"});
}

void add_trace_option(CLI::App& command, SystemOptions& options) {
  bind_options(command, options, system_options(), {"trace"});
}

}  // namespace weft::tools
