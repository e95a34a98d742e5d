#include "tools/job/program_job.h"

#include <cmath>
#include <cstdlib>
#include <string>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "tools/job/input_agreement.h"
#include "tools/job/patience.h"

namespace weft::tools {
namespace {

/// Time without progress after which a rank says for whom it waits.
double stall_seconds() {
  const char* const text = std::getenv("WEFT_STALL_SECONDS");
  if (!text) return comm_thread::JobOptions().stall_seconds;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds > 0) || !std::isfinite(seconds))
    throw comm_thread::InputError(std::string("WEFT_STALL_SECONDS: found '") + text +
                                  "'; expected a number of seconds above 0");
  return seconds;
}

/// Throws comm_thread::InputError, not on every rank.
comm_thread::JobOptions options_of(const ThreadOptions& chosen) {
  if (chosen.strict_placement && chosen.threads == 0)
    throw comm_thread::InputError(
        "--strict-placement: found without --threads; expected --threads T with it");
  comm_thread::JobOptions options{.threads = chosen.threads,
                                  .strict_placement = chosen.strict_placement,
                                  .pin_beyond_mask = chosen.pin_beyond_mask,
                                  .variable = [](const char* name) { return std::getenv(name); }};
  options.stall_seconds = stall_seconds();
  return options;
}

}  // namespace

Job collective_start_job(const comm_thread::MpiSession& session, const ThreadOptions& chosen) {
  comm_thread::JobOptions options = options_of(chosen);
  if (const std::string fault = collective_agreed_fault(""); !fault.empty())
    throw comm_thread::InputError(fault);
  const auto world = comm_thread::Communicator::collective_world();
  options.on_stall = [rank = world.rank(), first = options.stall_seconds](
                         const std::string& awaited, double seconds) {
    report_long_wait(rank, awaited, seconds, first);
  };
  start_signs_of_life(world.rank(), world.size());
  return Job(session, options);
}

}  // namespace weft::tools
