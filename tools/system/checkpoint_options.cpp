#include "tools/system/checkpoint_options.h"

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "library/options/option_values.h"
#include "tools/job/effective_options.h"
#include "tools/job/option_binding.h"

namespace weft::tools {
namespace {

struct Interval {
  double seconds = 0;
  std::int64_t iterations = 0;  // where above 0, instead of seconds
};

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr std::array units{Unit{"min", 60}, Unit{"h", 3600}, Unit{"s", 1}};

std::optional<Interval> parse_interval(std::string_view text) {
  constexpr std::string_view iterations = "it";
  if (text.ends_with(iterations)) {
    text.remove_suffix(iterations.size());
    const auto count = comm_thread::number_in<std::int64_t>(text);
    if (!count || *count < 1) return std::nullopt;
    return Interval{.seconds = 0, .iterations = *count};
  }
  double factor = 1;
  for (const Unit& unit : units)
    if (text.ends_with(unit.name)) {
      text.remove_suffix(unit.name.size());
      factor = unit.seconds;
      break;
    }
  const auto number = comm_thread::number_in<double>(text);
  if (!number || !(*number > 0) || !std::isfinite(*number * factor)) return std::nullopt;
  return Interval{.seconds = *number * factor, .iterations = 0};
}

/// Throws comm_thread::InputError.
Interval interval_of(const std::string& text) {
  if (const auto interval = parse_interval(text)) return *interval;
  throw comm_thread::InputError(
      "found '" + text + "'; expected a time such as 300s, 5min or 1h, or iterations as in 100it");
}

}  // namespace

solver::Checkpoints::Options CheckpointOptions::settings() const {
  const Interval interval = interval_of(every);
  return {.path = path,
          .from = from,
          .every_seconds = interval.seconds,
          .every_iterations = interval.iterations};
}

void CheckpointOptions::check(const CLI::App& command) const {
  check_needs(
      command,
      {{{"checkpoint-every"}, !path.empty(), "without --checkpoint", "--checkpoint FILE with it"}});
}

void add_checkpoint_options(CLI::App& command, CheckpointOptions& options,
                            const std::string& limits, const std::string& how) {
  using V = library::Values<CheckpointOptions>;
  using Group = library::OptionGroup;
  const library::OptionTable<CheckpointOptions> table{
      {"checkpoint", Group::run,
       "keeps the state of the solve in a file\n"
       "for --restart-from, while it goes on and where SIGTERM, SIGINT, SIGUSR1 or SIGUSR2" +
           limits + " end it; FILE.previous is the state before",
       V::text(&CheckpointOptions::path, "FILE")},
      {"checkpoint-every", Group::rest,
       "time between two checkpoints, in s, min or h, or iterations as in 100it",
       V::checked(&CheckpointOptions::every, interval_of, "TIME")},
      {"restart-from", Group::run,
       "continues from such a file\nthat --checkpoint has written, on any number of ranks\n" + how,
       V::text(&CheckpointOptions::from, "FILE")}};
  bind_options(command, options, table);
}

void add_sweep_checkpoint_options(CLI::App& command, CheckpointOptions& options) {
  add_checkpoint_options(command, options, " or\n--max-iterations",
                         "and threads; synchronous sweeps with the bits of a run that was not\n"
                         "interrupted, the others from its values");
}

}  // namespace weft::tools
