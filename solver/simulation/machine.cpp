#include "solver/simulation/machine.h"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"

namespace weft::solver {
namespace {

using comm_thread::InputError;

Machine hector() {
  return {.name = "hector",
          .source =
              "Cray XE6 with Gemini, two 16-core Opterons a node at 2.3 GHz, 3-D torus (Bethune "
              "et al. 2012, section 5); latency 1.5 us, 105 ns a hop, 6 GB/s a link (Alverson, "
              "Roweth, Kaplan 2010); overheads, gap, copies and jitter assumed; seconds a point "
              "fitted to one value, 32 processes sync of table 1: 28.4 s for 9100 iterations of "
              "50^3 points",
          .latency = 1.5e-6,
          .latency_per_hop = 0.105e-6,
          .overhead = 0.6e-6,
          .gap = 0.5e-6,
          .gap_per_byte = 1.0 / 6e9,
          .overhead_per_byte = 1.0 / 5e9,
          .local_latency = 0.7e-6,
          .local_gap_per_byte = 1.0 / 2e9,
          .topology = Topology::torus,
          .ranks_per_node = 32,
          .seconds_per_point = 2.38e-8,
          .core_spread = 0.01,
          .jitter = 0.02};
}

Machine cori_haswell() {
  return {.name = "cori-haswell",
          .source =
              "Cray XC40 with Aries, 16 processes a node (Yamazaki et al. 2019, section 5); "
              "latency 1.3 us, 10 GB/s a node (Faanes et al. 2012); a fat tree for its "
              "dragonfly; overheads, gap and seconds a point assumed; seconds a solve and jitter "
              "fitted to one column, q = 12 of table 3a: 5.87 ms an iteration (MPI_Wait), "
              "asynchronous in 0.93 of the time",
          .latency = 1.3e-6,
          .overhead = 0.4e-6,
          .gap = 0.15e-6,
          .gap_per_byte = 1.0 / 10e9,
          .topology = Topology::fat_tree,
          .ranks_per_node = 16,
          .seconds_per_point = 6e-9,
          .seconds_per_solve = 3e-3,
          .core_spread = 0.01,
          .jitter = 0.17};
}

Machine odin() {
  return {
      .name = "odin",
      .source =
          "128 nodes with two Opterons 246 and a flat InfiniBand network (Hoefler et al. "
          "2006, section 3.5); latency 5 us, 900 MB/s, overheads, jitter and seconds a point (24 "
          "bytes at 4 GB/s) assumed: the paper has none of them",
      .latency = 5e-6,
      .overhead = 1.5e-6,
      .gap = 1e-6,
      .gap_per_byte = 1.0 / 0.9e9,
      .topology = Topology::flat,
      .ranks_per_node = 2,
      .seconds_per_point = 6e-9,
      .jitter = 0.02};
}

Machine odin_with_ethernet() {
  Machine machine = odin();
  machine.name = "odin-gigabit";
  machine.source =
      "the same nodes with flat Gigabit Ethernet, of a tenth of the bandwidth (Hoefler et al. "
      "2006, section 3.5); latency 50 us, overheads, jitter and seconds a point (24 bytes at 4 "
      "GB/s) assumed";
  machine.latency = 50e-6;
  machine.overhead = 10e-6;
  machine.gap = 5e-6;
  machine.gap_per_byte = 1.0 / 0.09e9;
  return machine;
}

Machine gigabit() {
  return {.name = "gigabit",
          .source =
              "one core a node, TCP over 1 Gbit/s Ethernet: the hosts of tools/lab; all numbers "
              "but the bandwidth assumed: give a report of weft progress",
          .latency = 50e-6,
          .overhead = 10e-6,
          .gap = 5e-6,
          .gap_per_byte = 8e-9,
          .overhead_per_byte = 0.3e-9,
          .ranks_per_node = 1,
          .seconds_per_point = 1.5e-9,
          .jitter = 0.03,
          .poll_interval = 200e-6};
}

/// Published parameters, and fitted or assumed ones, which say so. What an entry does not name is
/// as in `Machine`.
const std::array<Machine, 5>& machines() {
  static const std::array<Machine, 5> known{hector(), cori_haswell(), odin(), odin_with_ethernet(),
                                            gigabit()};
  return known;
}

constexpr MachineNumber known_numbers[] = {
    {"latency_seconds", "latency", &Machine::latency},
    {"latency_per_hop_seconds", "latency per hop", &Machine::latency_per_hop},
    {"overhead_seconds", "overhead", &Machine::overhead},
    {"gap_seconds", "gap", &Machine::gap},
    {"gap_per_byte_seconds", "gap per byte", &Machine::gap_per_byte},
    {"burst_bytes", "burst", &Machine::burst_bytes},
    {"overhead_per_byte_seconds", "overhead per byte", &Machine::overhead_per_byte},
    {"local_latency_seconds", "local latency", &Machine::local_latency},
    {"local_gap_per_byte_seconds", "local gap per byte", &Machine::local_gap_per_byte},
    {"seconds_per_point", "seconds per point", &Machine::seconds_per_point},
    {"seconds_per_solve", "seconds per solve", &Machine::seconds_per_solve},
    {"seconds_per_flop", "seconds per flop", &Machine::seconds_per_flop},
    {"seconds_per_dense_flop", "seconds per dense flop", &Machine::seconds_per_dense_flop},
    {"core_spread", "spread of the cores", &Machine::core_spread},
    {"jitter", "jitter", &Machine::jitter},
    {"detour_rate", "detour rate", &Machine::detour_rate},
    {"detour_seconds", "detour seconds", &Machine::detour_seconds},
    {"slow_factor", "slow factor", &Machine::slow_factor},
    {"poll_interval_seconds", "poll interval", &Machine::poll_interval},
};

}  // namespace

std::span<const MachineNumber> machine_numbers() { return known_numbers; }

std::span<const Machine> known_machines() { return machines(); }

Machine machine_by_name(std::string_view name) {
  std::string names;
  for (const Machine& machine : known_machines()) {
    if (machine.name == name) return machine;
    names += (names.empty() ? "" : ", ") + machine.name;
  }
  throw InputError(fmt::format("machine: found '{}'; expected one of {}", name, names));
}

Topology topology_by_name(std::string_view text) {
  for (const Topology topology : {Topology::flat, Topology::fat_tree, Topology::torus})
    if (name(topology) == text) return topology;
  throw InputError(fmt::format("topology: found '{}'; expected flat, fat-tree or torus", text));
}

std::string name(Topology topology) {
  constexpr std::array<const char*, 3> names{"flat", "fat-tree", "torus"};
  return names.at(static_cast<std::size_t>(topology));
}

spmv::Mode simulated_mode(std::string_view text) {
  const auto mode = spmv::parse_mode(text);
  if (!mode || *mode == spmv::Mode::overlap_test)
    throw InputError(fmt::format("mode: found '{}'; expected vector, overlap or task", text));
  return *mode;
}

void expect_between(std::string_view what, std::int64_t found, std::int64_t least,
                    std::int64_t most) {
  if (found < least || found > most)
    throw InputError(fmt::format("{}: found {}; expected {} to {}", what, found, least, most));
}

void expect_positive(std::string_view what, double found) {
  if (!(found > 0) || std::isinf(found))
    throw InputError(fmt::format("{}: found {}; expected a number above 0", what, found));
}

Machine polling_machine(Machine machine) {
  machine.poll_interval = 0;
  return machine;
}

void check(const Machine& machine) {
  const auto expect = [](const char* what, double found) {
    if (!(found >= 0) || std::isinf(found))
      throw InputError(fmt::format("{}: found {}; expected 0 or more", what, found));
  };
  expect_positive("seconds per point", machine.seconds_per_point);
  if (!(machine.slow_factor >= 1) || std::isinf(machine.slow_factor))
    throw InputError(fmt::format("slow factor: found {}; expected 1 or more", machine.slow_factor));
  for (const MachineNumber& number : known_numbers) expect(number.words, machine.*number.value);
  expect("seconds per sweep", machine.seconds_per_sweep);
  if (machine.ranks_per_node < 1)
    throw InputError(
        fmt::format("ranks per node: found {}; expected 1 or more", machine.ranks_per_node));
}

}  // namespace weft::solver
