#include "tools/system/schwarz_options.h"

#include "library/options/iteration_settings.h"
#include "tools/job/effective_options.h"

namespace weft::tools {
void SchwarzOptions::check(const CLI::App& command) const {
  SchwarzSettings::check();
  check_needs(command, needs());
  check_needs(command, {{{"seconds"},
                         !checkpoints.is_used() || fixed_seconds == 0,
                         "with --checkpoint or --restart-from",
                         "a run until converged"}});
  checkpoints.check(command);
}

void add_alpha_option(CLI::App& command, SchwarzOptions& options) {
  bind_options(command, options, library::tile_options(), {"alpha"});
}

void add_schwarz_options(CLI::App& command, SchwarzOptions& options) {
  const auto& sweeps = library::iteration_options();
  bind_options(command, options, library::tile_options(),
               {"subdomains", "points", "overlap", "rhs", "variant"});
  command.get_option("--subdomains")->required();
  command.get_option("--points")->required();
  bind_options(command, options, sweeps,
               {"mode", "transport", "in-flight", "detector", "tolerance", "max-iterations",
                "inject", "seconds", "wait"});
  bind_options(command, options, library::tile_options(), {"local-solver", "coarse"});
  add_dry_run_option(command, options);
}

}  // namespace weft::tools
