#include "tools/system/schwarz_options.h"

#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "library/options/iteration_settings.h"
#include "tools/job/effective_options.h"

namespace weft::tools {
namespace {

const std::vector<OptionEffect<SchwarzOptions>>& schwarz_effects() {
  using Options = SchwarzOptions;
  static const std::vector<OptionEffect<Options>> all{
      {{"--mode"},
       [](const Options& options) { return options.is_sync(); },
       "without --variant sync",
       "both"},
      {{"--detector", "--in-flight"},
       [](const Options& options) { return !options.is_sync(); },
       "with --variant sync",
       "async"},
      {{"--alpha", "--overlap"},
       [](const Options& options) { return options.tiles_per_side > 1; },
       "with --subdomains 1, which has no neighbours",
       "2 or more"},
      effect_of_interval<Options>()};
  return all;
}

}  // namespace

void SchwarzOptions::check(const CLI::App& command) const {
  SchwarzSettings::check();
  expect_effects(command, *this, schwarz_effects());
  if (checkpoints.is_used() && fixed_seconds > 0)
    throw comm_thread::InputError(
        "--seconds: found with --checkpoint or --restart-from; expected a run until converged");
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
