#include "tools/job/system_options.h"

#include <cmath>

#include <fmt/ranges.h>

#include "comm_thread/mpi/number_in.h"
#include "spmv/matrix/matrix_format.h"
#include "spmv/problems/problem.h"

namespace weft::tools {

std::string fault_of_positive(const std::string& text) {
  const auto number = comm_thread::number_in<double>(text);
  return number && *number > 0 && std::isfinite(*number)
             ? ""
             : "found '" + text + "'; expected a number above 0";
}

void add_choice(CLI::App& command, const std::string& name, std::string& value,
                const std::vector<std::string>& choices, const std::string& help) {
  const std::string words = fmt::format("{}", fmt::join(choices, "|"));
  // The type's name says already what the check's description would.
  command.add_option(name, value, help)
      ->check(CLI::IsMember(choices).description(""))
      ->type_name(words)
      ->capture_default_str();
}

void add_choices(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                 const std::vector<std::string>& known, const std::string& help) {
  command.add_option(name, values, help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(known).description(""))
      ->type_name(fmt::format("{},...", fmt::join(known, "|")))
      ->capture_default_str();
}

void add_triangle_option(CLI::App& command, SystemOptions& options) {
  add_choice(command, "--triangle", options.triangle, {"mirrored", "as-is"},
             "a matrix from a file with entries on one side of the diagonal only, or of the\n"
             "blocks on it: mirrored: it is half of a symmetric matrix; as-is: it is\n"
             "triangular; without a word nothing is solved with it");
}

void add_problem_options(CLI::App& command, SystemOptions& options) {
  command.add_option("problem", options.problem, spmv::Problem::words())
      ->required()
      ->type_name("PROBLEM");
  add_choice(command, "--partition", options.partition, {"rows", "nonzeros", "metis"},
             "what ranks get equal shares of: rows or nonzeros; metis: of nonzeros, with a\n"
             "small halo, of a graph that rank 0 cuts (40 bytes of its memory per nonzero)");
  add_choice(command, "--order", options.order, {"given", "rcm", "auto"},
             "of the rows: as given, or rcm: reverse Cuthill-McKee, for a narrow band, found\n"
             "by rank 0 (20 bytes of its memory per nonzero); auto: rcm where it pays for itself;\n"
             "b and x keep the given order; default: auto for files in spmv, roofline and in\n"
             "solve, unless an option needs the given order; else given");
  add_triangle_option(command, options);
}

void add_operator_option(CLI::App& command, std::string& kind) {
  add_choice(command, "--operator", kind, {"matrix", "stencil"},
             "matrix, or stencil: no stored matrix; grid problems only, cut in three directions");
}

void add_format_option(CLI::App& command, SystemOptions& options) {
  add_choice(command, "--format", options.format, spmv::matrix_format_names(),
             fmt::format("matrix storage: {}", spmv::matrix_format_help()));
}

void add_job_options(CLI::App& command, SystemOptions& options) {
  command
      .add_option("--threads", options.threads,
                  "compute threads per rank; 0: one for each core that it was given, as far as a\n"
                  "container's quota of processor time goes")
      ->check(CLI::Range(0, 65536))
      ->type_name("T")
      ->capture_default_str();
  command.add_flag("--strict-placement", options.strict_placement,
                   "with --threads: refuse to let two compute threads share a\nhardware thread");
  command.add_flag("--pin-beyond-mask", options.pin_beyond_mask,
                   "use all cores that the cpuset permits, whatever mask weft was started with\n"
                   "(taskset, a job, a launcher)");
  command
      .add_option("--json", options.json_path,
                  "write the report as JSON; - for standard output instead of the summary")
      ->type_name("FILE|-");
}

void add_dry_run_option(CLI::App& command, SystemOptions& options) {
  command.add_flag("--dry-run", options.is_dry_run,
                   "only forecast the memory that each rank and node will need");
}

void add_trace_option(CLI::App& command, SystemOptions& options) {
  command
      .add_option("--trace", options.trace_path,
                  "write what every thread did and when, for https://ui.perfetto.dev or\n"
                  "chrome://tracing: JSON, compressed where FILE ends in .gz; of each thread the\n"
                  "newest 65536 events")
      ->type_name("FILE");
}

}  // namespace weft::tools
