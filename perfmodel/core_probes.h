#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::perfmodel {

/// Loops of one kind of operation on registers or on 16 KiB in the first-level cache: what a core
/// does a second when nothing else holds it back.
enum class CoreProbe {
  loads,
  shifted_loads,  // one element after the address that the length of a vector divides
  stores,
  additions,
  multiplications,
  arithmetic,  // as many additions as multiplications
  integer_additions,
  shuffles,
  chained_additions,  // each needs the result of the one before
};
inline constexpr std::array all_core_probes{CoreProbe::loads,
                                            CoreProbe::shifted_loads,
                                            CoreProbe::stores,
                                            CoreProbe::additions,
                                            CoreProbe::multiplications,
                                            CoreProbe::arithmetic,
                                            CoreProbe::integer_additions,
                                            CoreProbe::shuffles,
                                            CoreProbe::chained_additions};

/// Vectors as long as the registers of the instruction set that kernels run in, or single doubles.
enum class ProbeWidth { vector, scalar };

std::size_t probe_vector_bytes();

/// Doubles that `buffer` of run_core_probe has.
inline constexpr std::int64_t core_probe_buffer = 2048 + 8;

/// Runs a probe for some tenths of a millisecond; returns the number of its operations, as
/// Operations counts them. `buffer`: [core_probe_buffer], 64-byte aligned; its values are
/// overwritten. Thread: any number at once, each with a buffer of its own.
double run_core_probe(CoreProbe probe, ProbeWidth width, double* buffer);

}  // namespace weft::perfmodel
