#include "solver/simulation/machine.h"

#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"

namespace weft::solver {
namespace {

using comm_thread::InputError;

/// Published parameters, and fitted ones, which say so.
std::vector<Machine> make_machines() {
  std::vector<Machine> machines;
  Machine hector;
  hector.name = "hector";
  hector.source =
      "Cray XE6 with Gemini, 32 cores a node at 2.3 GHz, 3-D torus (Bethune et al. 2012, section "
      "5); latency 1.5 us, 105 ns a hop, 6 GB/s a link (Alverson, Roweth, Kaplan 2010); seconds a "
      "point fitted to one value, 32 processes sync of table 1: 28.4 s for 9100 iterations of 50^3 "
      "points";
  hector.latency = 1.5e-6;
  hector.latency_per_hop = 0.105e-6;
  hector.overhead = 0.6e-6;
  hector.gap = 0.5e-6;
  hector.gap_per_byte = 1.0 / 6e9;
  hector.overhead_per_byte = 1.0 / 5e9;
  hector.local_latency = 0.7e-6;
  hector.local_gap_per_byte = 1.0 / 2e9;
  hector.topology = Topology::torus;
  hector.ranks_per_node = 32;
  hector.seconds_per_point = 2.38e-8;
  hector.core_spread = 0.01;
  hector.jitter = 0.02;
  machines.push_back(hector);

  Machine cori;
  cori.name = "cori-haswell";
  cori.source =
      "Cray XC40 with Aries, 32 cores a node (Yamazaki et al. 2019, section 5); latency 1.3 us, 10 "
      "GB/s a node (Faanes et al. 2012); seconds a point assumed";
  cori.latency = 1.3e-6;
  cori.latency_per_hop = 0.1e-6;
  cori.overhead = 0.4e-6;
  cori.gap = 0.15e-6;
  cori.gap_per_byte = 1.0 / 10e9;
  cori.topology = Topology::fat_tree;
  cori.ranks_per_node = 32;
  cori.seconds_per_point = 6e-9;
  cori.core_spread = 0.01;
  cori.jitter = 0.02;
  machines.push_back(cori);

  Machine odin;
  odin.name = "odin";
  odin.source =
      "128 nodes with two dual-core Opterons and InfiniBand (Hoefler et al. 2006, section 4); "
      "latency 5 us, 900 MB/s, seconds a point assumed";
  odin.latency = 5e-6;
  odin.overhead = 1.5e-6;
  odin.gap = 1e-6;
  odin.gap_per_byte = 1.0 / 0.9e9;
  odin.topology = Topology::fat_tree;
  odin.ranks_per_node = 4;
  odin.seconds_per_point = 2.5e-8;
  odin.jitter = 0.02;
  machines.push_back(odin);

  Machine gigabit;
  gigabit.name = "gigabit";
  gigabit.source = "one core a node, TCP over 1 Gbit/s Ethernet: the hosts of tools/lab";
  gigabit.latency = 50e-6;
  gigabit.overhead = 10e-6;
  gigabit.gap = 5e-6;
  gigabit.gap_per_byte = 8e-9;
  gigabit.overhead_per_byte = 0.3e-9;
  gigabit.ranks_per_node = 1;
  gigabit.seconds_per_point = 1.5e-9;
  gigabit.jitter = 0.03;
  gigabit.poll_interval = 200e-6;
  machines.push_back(gigabit);
  return machines;
}

}  // namespace

std::span<const Machine> known_machines() {
  static const std::vector<Machine> machines = make_machines();
  return machines;
}

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

void check(const Machine& machine) {
  const auto expect = [](const char* what, double found) {
    if (!(found >= 0) || std::isinf(found))
      throw InputError(fmt::format("{}: found {}; expected 0 or more", what, found));
  };
  expect("latency", machine.latency);
  expect("latency per hop", machine.latency_per_hop);
  expect("overhead", machine.overhead);
  expect("gap", machine.gap);
  expect("gap per byte", machine.gap_per_byte);
  expect("overhead per byte", machine.overhead_per_byte);
  expect("local latency", machine.local_latency);
  expect("local gap per byte", machine.local_gap_per_byte);
  expect("seconds per sweep", machine.seconds_per_sweep);
  expect("spread of the cores", machine.core_spread);
  expect("jitter", machine.jitter);
  expect("detour rate", machine.detour_rate);
  expect("detour seconds", machine.detour_seconds);
  expect("poll interval", machine.poll_interval);
  if (!(machine.seconds_per_point > 0) || std::isinf(machine.seconds_per_point))
    throw InputError(fmt::format("seconds per point: found {}; expected a number above 0",
                                 machine.seconds_per_point));
  if (!(machine.slow_factor >= 1) || std::isinf(machine.slow_factor))
    throw InputError(fmt::format("slow factor: found {}; expected 1 or more", machine.slow_factor));
  if (machine.ranks_per_node < 1)
    throw InputError(
        fmt::format("ranks per node: found {}; expected 1 or more", machine.ranks_per_node));
}

}  // namespace weft::solver
