#include "tools/system/async_options.h"

#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/termination/detector_kind.h"

namespace weft::tools {

std::vector<solver::Fault> AsyncOptions::parsed_faults() const {
  std::vector<solver::Fault> parsed;
  for (const std::string& text : faults) parsed.push_back(solver::Fault::parse(text));
  return parsed;
}

library::IterationSettings AsyncOptions::settings() const {
  auto settings =
      library::IterationSettings::parse({{"variant", variant},
                                         {"mode", mode},
                                         {"transport", is_threaded() ? "two-sided" : transport},
                                         {"detector", detector}});
  settings.tolerance = tolerance;
  settings.max_in_flight = max_in_flight;
  settings.max_iterations = max_iterations;
  settings.faults = parsed_faults();
  return settings;
}

void add_async_options(CLI::App& command, AsyncOptions& options, bool may_use_threads) {
  add_choice(command, "--mode", options.mode, {"vector", "overlap", "task"},
             "halo exchange of sync, as in weft solve");
  command
      .add_option("--transport", options.transport,
                  std::string("transport of the halos:\n") + comm_thread::transport_words() +
                      (may_use_threads ? "; or openmp: threads\nof one rank, each with its own "
                                         "planes"
                                       : ""))
      ->check([may_use_threads](const std::string& text) {
        if (may_use_threads && text == "openmp") return std::string();
        const std::string fault = fault_of([&] { comm_thread::transport_choice(text); });
        return may_use_threads && !fault.empty() ? fault + ", or openmp" : fault;
      })
      ->type_name("TRANSPORT")
      ->capture_default_str();
  command
      .add_option("--in-flight", options.max_in_flight,
                  "largest number of messages in flight to a neighbour")
      ->check(CLI::Range(1, 512))
      ->type_name("R")
      ->capture_default_str();
  command
      .add_option("--detector", options.detector,
                  "termination detection of asynchronous ranks; always followed by a\n"
                  "verification")
      ->check([](const std::string& text) {
        return fault_of([&] { comm_thread::detector_kind(text); });
      })
      ->type_name("flags|residual|all-reduce|snapshot")
      ->capture_default_str();
  command
      .add_option("--inject", options.faults,
                  "disturb the run: slow:RANK:FACTOR, jitter:FRACTION,\n"
                  "stall:RANK:SECONDS or pause:RANK:SECONDS; may be given several times")
      ->type_name("FAULT");
  command.add_option("--max-iterations", options.max_iterations, "end after this many iterations")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 60))
      ->type_name("COUNT")
      ->capture_default_str();
}

}  // namespace weft::tools
