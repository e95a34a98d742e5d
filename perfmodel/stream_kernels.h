#pragma once

#include <array>
#include <cstdint>

namespace weft::perfmodel {

/// Loops that only move data: bandwidth of a mixture of loads and stores.
///
///     load    sum of a           store   c = s              copy    c = a
///     update  a = s·a            triad   c = a + s·b
///
/// Variants named `…_past` store past the caches (non-temporally), which saves loading the lines
/// that are overwritten (write-allocate).
enum class Stream { load, store, store_past, update, copy, copy_past, triad, triad_past };
inline constexpr std::array all_streams{Stream::load,   Stream::store,     Stream::store_past,
                                        Stream::update, Stream::copy,      Stream::copy_past,
                                        Stream::triad,  Stream::triad_past};
const char* name(Stream stream);

/// Bytes moved and flops, per element.
struct StreamTraffic {
  double read_bytes;  // including write-allocate
  double written_bytes;
  double counted_bytes;  // only the program's loads and stores, as benchmarks count
  double flops;

  double total_bytes() const { return read_bytes + written_bytes; }
  double write_share() const { return written_bytes / total_bytes(); }
};
StreamTraffic traffic_of(Stream stream);

/// Goes `passes` times through `count` elements; returns a value that depends on all loads, so that
/// none is removed. Arrays that the stream does not use are not touched. Shape: a, b, c: [count],
/// 64-byte aligned, distinct. Thread: any number at once on arrays that do not overlap.
double run_stream(Stream stream, double* a, const double* b, double* c, std::int64_t count,
                  std::int64_t passes = 1);

/// Multiplies and adds in registers only, 2·8·12 flops a round. Returns a value that keeps the work
/// from being removed.
double run_in_registers(std::int64_t rounds);
inline constexpr double flops_per_register_round = 2 * 8 * 12;

}  // namespace weft::perfmodel
