#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace weft::perfmodel {

/// What the load probe reaches on one core, to see whether the probes themselves are held back.
struct ProbeSpeed {
  double cache_bytes_per_second = 0;  // loads from the first-level cache
  double memory_bytes_per_second = 0;  // by one core while the others wait
  std::size_t vector_bytes = 0;  // that an instruction loads
  double array_bytes = 0;  // of the loads from memory
  double cache_bytes = 0;  // of all last-level caches together
};

/// True if a level of the caches that loads at `cache_rate` counts as a cache beside a memory that
/// gives `memory_rate`. The last level of a large processor may load no quicker than memory, in
/// a virtual machine that has a small share of it above all.
bool is_quicker_than_memory(double cache_rate, double memory_rate);

/// Loads from the first-level cache / loads from memory, at least, of probes that are not held
/// back.
///
/// Measured on one core: Zen 5 with vectors of 64, 32 and 16 bytes 13, 6.5 and 3.3, Zen 3 with 32
/// bytes 14. Probes whose vectors the compiler kept on the stack: 1.0 and 1.4 on Zen 5, 2.6 on Zen
/// 3. They reached half of the memory's bandwidth.
double least_cache_to_memory(std::size_t vector_bytes);

/// Says why no kernel can be judged by bandwidths that these probes have measured: a probe that
/// computes about as fast from cache as from memory is bound by its own instructions, so that the
/// bandwidth it finds is too low, and every fraction of the model too high. Nothing where the
/// probes are fast enough, or where the arrays fit into the caches, so that no load came from
/// memory.
std::optional<std::string> fault_of_probes(const ProbeSpeed& speed);

}  // namespace weft::perfmodel
