#pragma once

#include <array>
#include <cstdint>

namespace weft::perfmodel {

/// Loops that do nothing but move data: what memory gives to a mixture of loads and stores.
///
///     load    sum of a           store   c = s              copy    c = a
///     update  a = s·a            triad   c = a + s·b
///
/// Those named `…_past` store past the caches (non-temporally), which saves the load of what is
/// going to be overwritten (write-allocate).
enum class Stream { load, store, store_past, update, copy, copy_past, triad, triad_past };
inline constexpr std::array all_streams{Stream::load,   Stream::store,     Stream::store_past,
                                        Stream::update, Stream::copy,      Stream::copy_past,
                                        Stream::triad,  Stream::triad_past};
const char* name(Stream stream);

/// Bytes that an element moves, and flops.
struct StreamTraffic {
  double read_bytes;  // with write-allocate
  double written_bytes;
  double counted_bytes;  // by the loads and stores of the program alone, as benchmarks count
  double flops;

  double total_bytes() const { return read_bytes + written_bytes; }
  double write_share() const { return written_bytes / total_bytes(); }
};
StreamTraffic traffic_of(Stream stream);

/// One pass over `count` elements; returns something that depends on what was loaded, so that no
/// load is left out. Shape: a, b, c: [count], 64-byte aligned, not the same; those not named above
/// are not touched. Thread: any number at once on arrays that do not overlap.
double run_stream(Stream stream, double* a, const double* b, double* c, std::int64_t count);

/// Multiplications and additions in registers alone, 2·8·12 flops a round. Returns what keeps the
/// work alive.
double run_in_registers(std::int64_t rounds);
inline constexpr double flops_per_register_round = 2 * 8 * 12;

}  // namespace weft::perfmodel
