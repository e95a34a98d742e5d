#include "tools/commands/simulation_options.h"

#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "library/system/measured_machine.h"
#include "tools/job/system_options.h"

namespace weft::tools {
namespace {

using comm_thread::InputError;

/// The two numbers of "A:B". Throws comm_thread::InputError.
std::pair<double, double> pair_of(const std::string& option, const std::string& text) {
  const std::size_t colon = text.find(':');
  try {
    if (colon == std::string::npos) throw std::invalid_argument(text);
    std::size_t first = 0;
    std::size_t second = 0;
    const std::pair<double, double> pair{std::stod(text.substr(0, colon), &first),
                                         std::stod(text.substr(colon + 1), &second)};
    if (first != colon || second != text.size() - colon - 1) throw std::invalid_argument(text);
    return pair;
  } catch (const std::logic_error&) {
    throw InputError(fmt::format("{}: found '{}'; expected two numbers, A:B", option, text));
  }
}

/// An option for a number of the machine.
void add_number(CLI::App& command, MachineOptions& options, const char* name,
                double solver::Machine::* member, const char* help, const char* type) {
  command
      .add_option_function<double>(
          name, [&options, member](double value) { options.numbers.emplace_back(member, value); },
          help)
      ->check(is_number(library::zero_or_more))
      ->type_name(type);
}

/// An option for the rate whose inverse is a number of the machine; 0 is as if it were not given.
void add_rate(CLI::App& command, MachineOptions& options, const char* name,
              double solver::Machine::* member, const char* help, const char* type) {
  command
      .add_option_function<double>(
          name,
          [&options, member](double rate) {
            if (rate > 0) options.numbers.emplace_back(member, 1 / rate);
          },
          help)
      ->check(is_number(library::zero_or_more))
      ->type_name(type);
}

}  // namespace

solver::Machine MachineOptions::parsed() const {
  solver::Machine parsed = solver::machine_by_name(machine);
  if (ranks_per_node > 0) parsed.ranks_per_node = ranks_per_node;
  if (!progress_path.empty()) library::take_progress(parsed, progress_path);
  if (!roofline_path.empty()) library::take_roofline(parsed, roofline_path);
  if (!topology.empty()) parsed.topology = solver::topology_by_name(topology);
  for (const auto& [member, value] : numbers) parsed.*member = value;
  if (!slow.empty()) {
    const auto [rank, factor] = pair_of("--slow", slow);
    parsed.slow_rank = static_cast<int>(rank);
    parsed.slow_factor = factor;
  }
  if (!detours.empty())
    std::tie(parsed.detour_rate, parsed.detour_seconds) = pair_of("--detours", detours);
  solver::check(parsed);
  return parsed;
}

void add_machine_options(CLI::App& command, MachineOptions& options) {
  std::string names;
  for (const solver::Machine& machine : solver::known_machines())
    names += (names.empty() ? "" : "|") + machine.name;
  command.add_option("--machine", options.machine, "parameters to begin with")
      ->type_name(names)
      ->capture_default_str();
  command
      .add_option("--progress", options.progress_path,
                  "latency and bandwidth of the link from this report of weft progress")
      ->type_name("FILE.json");
  command.add_option("--topology", options.topology, "how the nodes are connected")
      ->type_name("flat|fat-tree|torus");
  command.add_option("--ranks-per-node", options.ranks_per_node, "ranks that share a link")
      ->check(is_count(1, 1 << 20))
      ->type_name("COUNT");
  using solver::Machine;
  const auto number = [&](const char* name, double Machine::* member, const char* help,
                          const char* type) {
    add_number(command, options, name, member, help, type);
  };
  number("--latency", &Machine::latency, "L, between neighbouring nodes", "SECONDS");
  number("--overhead", &Machine::overhead, "o, of a message at either end", "SECONDS");
  number("--gap", &Machine::gap, "g, between two messages of a node", "SECONDS");
  add_rate(command, options, "--bandwidth", &Machine::gap_per_byte, "1/G, of the link of a node",
           "BYTES/S");
  number("--burst", &Machine::burst_bytes, "that an idle link passes on at once", "BYTES");
  number("--jitter", &Machine::jitter, "mean slow-down of a sweep, exponential", "FRACTION");
  number("--core-spread", &Machine::core_spread, "standard deviation of the cores' speeds",
         "FRACTION");
  command.add_option("--slow", options.slow, "one rank computes slower by this factor")
      ->type_name("RANK:FACTOR");
  command
      .add_option("--detours", options.detours,
                  "interruptions a second of computation, and their mean length")
      ->type_name("RATE:SECONDS");
}

void add_point_options(CLI::App& command, MachineOptions& options) {
  command
      .add_option("--roofline", options.roofline_path,
                  "points a second from the bandwidth in this report of weft roofline")
      ->type_name("FILE.json");
  add_rate(command, options, "--point-rate", &solver::Machine::seconds_per_point,
           "grid points a core sweeps in a second", "COUNT");
}

void add_flop_options(CLI::App& command, MachineOptions& options) {
  add_rate(command, options, "--flop-rate", &solver::Machine::seconds_per_flop,
           "of a core, on vectors that are in its caches", "FLOP/S");
  add_rate(command, options, "--dense-rate", &solver::Machine::seconds_per_dense_flop,
           "of a core, for the eigenvalues of small matrices", "FLOP/S");
}

void add_tile_options(CLI::App& command, MachineOptions& options) {
  add_number(command, options, "--solve-seconds", &solver::Machine::seconds_per_solve,
             "of a tile of 64^2 points, by its factors", "SECONDS");
}

void add_poll_interval(CLI::App& command, MachineOptions& options) {
  add_number(
      command, options, "--poll-interval", &solver::Machine::poll_interval,
      "of async and racy: how often a communication thread without a core of its own looks,\n"
      "while nobody waits",
      "SECONDS");
}

void SimulateSweepsOptions::complete(solver::SweepRunOptions& run) const {
  run.machine = machine.parsed();
  run.detector = comm_thread::detector_kind(detector);
  run.transport = comm_thread::transport_choice(transport);
}

std::vector<solver::SimulatedVariant> SimulateSweepsOptions::parsed_variants() const {
  std::vector<solver::SimulatedVariant> parsed;
  for (const std::string& variant : variants) parsed.push_back(solver::simulated_variant(variant));
  return parsed;
}

library::Need SimulateSweepsOptions::need_of_channels() const {
  return {{"transport", "detector", "in-flight", "halo-period"},
          std::ranges::any_of(variants, [](const std::string& name) { return name != "sync"; }),
          "with --variants sync",
          "async or racy among them"};
}

void add_transport(CLI::App& command, std::string& transport) {
  command
      .add_option(
          "--transport", transport,
          "of async and racy: two-sided, one-sided[:flush|flush-local|overlap|overlap-local] "
          "or shmem; puts by the network itself, without a receive")
      ->check([](const std::string& text) {
        return fault_of([&] { comm_thread::transport_choice(text); });
      })
      ->type_name("TRANSPORT")
      ->capture_default_str();
}

void add_sweep_options(CLI::App& command, SimulateSweepsOptions& options,
                       solver::SweepRunOptions& run, const std::string& variants,
                       const std::string& tolerance) {
  add_choices(command, "--variants", options.variants, {"sync", "async", "racy"}, variants);
  add_transport(command, options.transport);
  add_choice(command, "--detector", options.detector,
             {"flags", "residual", "all-reduce", "snapshot"}, "as in weft " + command.get_name());
  command.add_option("--tolerance", run.tolerance, tolerance)
      ->check(is_number(library::any_above_zero))
      ->capture_default_str();
  command.add_option("--max-iterations", run.max_sweeps, "end after this many sweeps of a rank")
      ->check(is_count(1, 1'000'000'000))
      ->type_name("COUNT")
      ->capture_default_str();
  add_count(command, "--in-flight", run.max_in_flight, 1, 512,
            "largest number of messages in flight to a neighbour");
  add_seeds(command, run.seed, options.seed_count);
  add_machine_options(command, options.machine);
  add_poll_interval(command, options.machine);
  add_job_options(command, options);
}

void add_seeds(CLI::App& command, std::uint64_t& seed, int& seed_count) {
  command.add_option("--seed", seed, "of everything that is random")->capture_default_str();
  add_count(command, "--seeds", seed_count, 1, 1000, "runs with this seed and the next ones");
}

void print_machine(const Json& machine) {
  fmt::print("machine      {}, {}, {} ranks a node\n             {}\n\n", machine["name"],
             machine["topology"], machine["ranks_per_node"], machine["source"]);
}

void collective_finish_simulation(const Job& job, const ReportFile& report_file,
                                  const std::string& method, double seconds, Json simulation,
                                  void (*print)(const Json& report)) {
  Json report = collective_start_report(job, "simulate");
  report["method"] = method;
  report["seconds"] = {{"total", seconds}};
  report["simulation"] = std::move(simulation);
  if (report_file.collective_write(report)) print(report);
}

void collective_expect_one_rank(const Job& job, const std::string& command) {
  comm_thread::collective_attempt(job.world(), [&] {
    if (job.world().size() > 1)
      throw InputError(
          fmt::format("{}: found {} ranks; expected one, which simulates all (--simulated-ranks)",
                      command, job.world().size()));
  });
}

}  // namespace weft::tools
