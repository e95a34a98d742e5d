#include "tools/system_options.h"

namespace weft::tools {

void add_problem_options(CLI::App& command, SystemOptions& options) {
  command
      .add_option("problem", options.problem,
                  "poisson3d:N or :NXxNYxNZ, poisson2d:NXxNY, poisson3d27:N,\n"
                  "anisotropic3d:N,ex,ey,ez, irregular:N,nnzr=15,bandwidth=B,seed=1,\n"
                  "or a Matrix Market file FILE.mtx, FILE.mtx.gz")
      ->required()
      ->type_name("PROBLEM");
  command
      .add_option("--partition", options.partition,
                  "what ranks get equal shares of: rows or nonzeros")
      ->check(CLI::IsMember({"rows", "nonzeros"}))
      ->type_name("rows|nonzeros")
      ->capture_default_str();
}

void add_format_option(CLI::App& command, SystemOptions& options) {
  command
      .add_option("--format", options.format,
                  "matrix storage: auto (repeating rows as a stencil, else CRS) or crs")
      ->check(CLI::IsMember({"auto", "crs"}))
      ->type_name("auto|crs")
      ->capture_default_str();
}

void add_job_options(CLI::App& command, SystemOptions& options) {
  command
      .add_option("--threads", options.threads,
                  "compute threads per rank; 0: as many as there are cores")
      ->check(CLI::Range(0, 65536))
      ->type_name("T")
      ->capture_default_str();
  command.add_flag("--strict-placement", options.strict_placement,
                   "with --threads: refuse to let two compute threads share a\nhardware thread");
  command
      .add_option("--json", options.json_path,
                  "write the report as JSON; - for standard output instead of the summary")
      ->take_last()
      ->type_name("FILE|-");
}

void add_trace_option(CLI::App& command, SystemOptions& options) {
  command
      .add_option("--trace", options.trace_path,
                  "write what every thread did and when, for https://ui.perfetto.dev or\n"
                  "chrome://tracing: JSON, compressed where FILE ends in .gz; of each thread the\n"
                  "newest 65536 events")
      ->take_last()
      ->type_name("FILE");
}

}  // namespace weft::tools
