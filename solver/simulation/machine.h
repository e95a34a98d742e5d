#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "spmv/modes/mode.h"

namespace weft::solver {

/// Connection of the nodes of a simulated machine: how many links a message crosses.
enum class Topology {
  flat,  // one switch
  fat_tree,  // 16 nodes a leaf switch, then levels of 16
  torus,  // as cubic as the number of nodes allows
};

/// Parameters of a simulated machine in the terms of LogGOP, and of its disturbances.
///
/// Source: Alexandrov et al. 1995 (LogGP); Hoefler et al. 2010, "LogGOPSim" (overhead a byte).
struct Machine {
  std::string name = "custom";
  std::string source{};  // where the numbers come from

  // Network between nodes. Unit: seconds.
  double latency = 1.5e-6;  // L, of the first link
  double latency_per_hop = 0.1e-6;  // of each further link
  double overhead = 0.5e-6;  // o, of a message, at either end
  double gap = 0.2e-6;  // g, between messages of a node
  double gap_per_byte = 0.2e-9;  // G, of the link of a node
  /// Bytes that an idle link passes on at once, before G counts: of a token bucket. 0: none.
  double burst_bytes = 0;
  double overhead_per_byte = 0.1e-9;  // O, of the copy at either end
  // Within a node.
  double local_latency = 0.5e-6;
  double local_gap_per_byte = 0.2e-9;
  Topology topology = Topology::flat;
  int ranks_per_node = 32;

  // Computation.
  double seconds_per_point = 2.5e-8;  // of a sweep, with all cores busy
  double seconds_per_sweep = 0;  // whatever the number of points
  double seconds_per_solve = 3e-3;  // of a tile of 64² points, by its factors
  /// Of arithmetic on vectors in a cache, which memory bounds nowhere, and of small dense matrices.
  /// Assumed on all machines.
  double seconds_per_flop = 0.25e-9;
  double seconds_per_dense_flop = 1e-9;

  // Disturbances.
  double core_spread = 0;  // standard deviation of the speeds of cores, as a fraction
  double jitter = 0;  // mean of the exponential slow-down of a sweep, as a fraction
  double detour_rate = 0;  // detours of the system a second of computation
  double detour_seconds = 0;  // mean of each
  int slow_rank = -1;
  double slow_factor = 1;  // by which that rank computes slower

  /// Time of the communication thread between two polls while nobody waits for it, 0 on a core of
  /// its own.
  double poll_interval = 0;
};

/// A number of a machine: its name in reports, which has the unit, and in messages.
struct MachineNumber {
  const char* name;
  const char* words;
  double Machine::* value;
};
/// All of them that are 0 or more.
std::span<const MachineNumber> machine_numbers();

/// Machines that are known by name: those of the papers. The names: `machine_names`.
/// Throws comm_thread::InputError with the list of names.
Machine machine_by_name(std::string_view name);

std::span<const Machine> known_machines();

/// Parses `flat`, `fat-tree` or `torus`. Throws comm_thread::InputError.
Topology topology_by_name(std::string_view text);
/// Inverse of `topology_by_name`.
std::string name(Topology topology);

/// When halos travel. Parses `vector`, `overlap` (without a thread for it, nothing travels during
/// the interior rows) or `task`. Throws comm_thread::InputError.
spmv::Mode simulated_mode(std::string_view text);

/// The same, on which whatever is waited for is polled all the time.
Machine polling_machine(Machine machine);

/// Throws comm_thread::InputError for numbers that are out of range.
void check(const Machine& machine);

/// For the options of simulations: throw comm_thread::InputError, which names `what`.
void expect_between(std::string_view what, std::int64_t found, std::int64_t least,
                    std::int64_t most);
void expect_positive(std::string_view what, double found);

}  // namespace weft::solver
