#include "tools/job/system_options.h"

namespace weft::tools {

void add_problem_options(CLI::App& command, SystemOptions& options) {
  command
      .add_option("problem", options.problem,
                  "poisson3d:N or :NXxNYxNZ, poisson2d:NXxNY, poisson3d27:N,\n"
                  "anisotropic3d:N,ex,ey,ez, diffusion3d:N,constant|jumps:RATIO|\n"
                  "checkerboard:BLOCK,RATIO|lognormal:SIGMA,seed=1,\n"
                  "irregular:N,nnzr=15,bandwidth=B,seed=1,\n"
                  "anderson3d:N,W=16,seed=1, holstein-hubbard:sites=6,up=3,down=3,phonons=15,\n"
                  "t=1,U=1,omega=1,g=1,basis=HMEp|HMeP,vanishing=kept|dropped,\n"
                  "or a Matrix Market file FILE.mtx, FILE.mtx.gz")
      ->required()
      ->type_name("PROBLEM");
  command
      .add_option("--partition", options.partition,
                  "what ranks get equal shares of: rows or nonzeros; metis: of nonzeros, with a\n"
                  "small halo, of a graph that rank 0 cuts (40 bytes of its memory per nonzero)")
      ->check(CLI::IsMember({"rows", "nonzeros", "metis"}))
      ->type_name("rows|nonzeros|metis")
      ->capture_default_str();
  command
      .add_option("--order", options.order,
                  "of the rows: as given, or rcm: reverse Cuthill-McKee, for a narrow band, found\n"
                  "by rank 0 (20 bytes of its memory per nonzero); b and x keep the given order")
      ->check(CLI::IsMember({"given", "rcm"}))
      ->type_name("given|rcm")
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
