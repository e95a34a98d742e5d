#include "spmv/matrix/stencil_encoding.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>
#include <unordered_set>

#include "perfmodel/fetch.h"
#include "perfmodel/simd.h"
#include "spmv/matrix/block_group.h"

namespace weft::spmv {
namespace {

using perfmodel::fetch_lead;

constexpr LocalIndex chunk_rows = StencilEncoding::chunk_rows;
/// More patterns than this would not stay in a core's second-level cache.
constexpr std::size_t most_patterns = 1024;
/// A pattern must serve this many chunks on average to be worth it.
constexpr std::size_t chunks_per_pattern = 8;
/// Slots, of 192 bytes, that may turn out to be of no use: where there are more, patterns are
/// counted first. Measured, irregular:200000 on three ranks: 46 MB less of each at the peak of a
/// solve with isai, most of which the C library had kept.
constexpr std::size_t uncounted_slots = 4096;

struct ChunkEntry {
  GlobalIndex distance;  // global column minus global row: the order of the sum
  LocalIndex offset;  // local column minus local row: where to load
  LocalIndex lane;
  double value;
};

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  return (std::rotl(hash, 5) ^ word) * 0x9e3779b97f4a7c15ULL;
}

}  // namespace

/// Builds the dictionary chunk by chunk.
class StencilEncoding::Encoder {
 public:
  Encoder(const DistributedMatrix& matrix, StencilEncoding& encoding)
      : matrix_(matrix), rows_(matrix.rows), encoding_(encoding) {}

  /// The number of the pattern that chunk `row` has; a new one where nothing fits.
  std::int32_t pattern_of(LocalIndex row) {
    if (last_ >= 0 && fits(last_, row)) return last_;
    auto& candidates = patterns_by_hash_[hash_of(row)];
    for (const std::int32_t pattern : candidates)
      if (fits(pattern, row)) return last_ = pattern;
    candidates.push_back(add_pattern(row));
    return last_ = candidates.back();
  }

  /// True if chunks `row` … `end` bring the patterns to more than `most`; stores none.
  bool exceeds(LocalIndex row, LocalIndex end, std::size_t most) const {
    std::unordered_set<std::uint64_t> others;
    for (; row < end; row += chunk_rows) {
      const std::uint64_t hash = hash_of(row);
      if (!patterns_by_hash_.contains(hash)) others.insert(hash);
      if (encoding_.patterns_.size() + others.size() > most) return true;
    }
    return false;
  }

 private:
  bool fits(std::int32_t number, LocalIndex row) const {
    const Pattern& pattern = encoding_.patterns_[static_cast<std::size_t>(number)];
    for (LocalIndex lane = 0; lane < chunk_rows; ++lane) {
      std::int64_t k = begin_of(row + lane);
      const std::int64_t end = begin_of(row + lane + 1);
      for (std::int32_t i = 0; i < pattern.slot_count; ++i) {
        const auto slot =
            static_cast<std::size_t>(pattern.first_slot) + static_cast<std::size_t>(i);
        if (encoding_.slots_[slot].mask[static_cast<std::size_t>(lane)] == 0) continue;
        if (k == end) return false;
        const auto entry = static_cast<std::size_t>(k++);
        if (rows_.columns[entry] != row + lane + encoding_.slots_[slot].offset) return false;
        const double value = encoding_.slots_[slot].values[static_cast<std::size_t>(lane)];
        if (std::bit_cast<std::uint64_t>(rows_.values[entry]) !=
            std::bit_cast<std::uint64_t>(value))
          return false;
      }
      if (k != end) return false;
    }
    return true;
  }

  std::uint64_t hash_of(LocalIndex row) const {
    std::uint64_t hash = 0;
    for (LocalIndex lane = 0; lane < chunk_rows; ++lane) {
      for (std::int64_t k = begin_of(row + lane); k < begin_of(row + lane + 1); ++k) {
        const auto entry = static_cast<std::size_t>(k);
        hash = mix(hash, static_cast<std::uint64_t>(rows_.columns[entry] - row));
        hash = mix(hash, std::bit_cast<std::uint64_t>(rows_.values[entry]));
      }
      hash = mix(hash, static_cast<std::uint64_t>(lane));
    }
    return hash;
  }

  std::int32_t add_pattern(LocalIndex row) {
    std::vector<ChunkEntry> entries;
    for (LocalIndex lane = 0; lane < chunk_rows; ++lane)
      for (std::int64_t k = begin_of(row + lane); k < begin_of(row + lane + 1); ++k) {
        const LocalIndex column = rows_.columns[static_cast<std::size_t>(k)];
        entries.push_back({matrix_.global_column(column) - (matrix_.first_row() + row + lane),
                           column - (row + lane), lane, rows_.values[static_cast<std::size_t>(k)]});
      }
    std::sort(entries.begin(), entries.end(), [](const ChunkEntry& a, const ChunkEntry& b) {
      return a.distance != b.distance ? a.distance < b.distance : a.offset < b.offset;
    });

    std::vector<StencilSlot>& slots = encoding_.slots_;
    const auto first = static_cast<std::int32_t>(slots.size());
    LocalIndex highest = -rows_.row_count;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const bool opens_slot = i == 0 || entries[i].distance != entries[i - 1].distance ||
                              entries[i].offset != entries[i - 1].offset;
      if (opens_slot) {
        slots.push_back({.offset = entries[i].offset});
        highest = std::max(highest, entries[i].offset);
      }
      slots.back().values[static_cast<std::size_t>(entries[i].lane)] = entries[i].value;
      slots.back().mask[static_cast<std::size_t>(entries[i].lane)] = -1;
    }
    const auto count = static_cast<std::int32_t>(slots.size()) - first;
    const bool has_masks = entries.size() != static_cast<std::size_t>(count) * chunk_rows;
    const bool is_uniform =
        !has_masks && std::all_of(slots.begin() + first, slots.end(), [](const StencilSlot& slot) {
          return std::ranges::all_of(slot.values, [&](double value) {
            return std::bit_cast<std::uint64_t>(value) ==
                   std::bit_cast<std::uint64_t>(slot.values[0]);
          });
        });
    encoding_.patterns_.push_back({first, count, has_masks, is_uniform, highest});
    return static_cast<std::int32_t>(encoding_.patterns_.size()) - 1;
  }

  std::int64_t begin_of(LocalIndex row) const {
    return rows_.row_offsets[static_cast<std::size_t>(row)];
  }

  const DistributedMatrix& matrix_;
  const CrsMatrix& rows_;
  StencilEncoding& encoding_;
  std::int32_t last_ = -1;
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> patterns_by_hash_;
};

std::optional<StencilEncoding> StencilEncoding::encode(const DistributedMatrix& matrix,
                                                       LocalIndex begin, LocalIndex end) {
  StencilEncoding encoding;
  encoding.begin_ = begin;
  encoding.encoded_end_ = begin + (end - begin) / chunk_rows * chunk_rows;
  const auto chunks = static_cast<std::size_t>((encoding.encoded_end_ - begin) / chunk_rows);
  const std::size_t limit = std::min(most_patterns, chunks / chunks_per_pattern);
  Encoder encoder(matrix, encoding);
  bool is_counted = false;
  for (LocalIndex row = begin; row < encoding.encoded_end_; row += chunk_rows) {
    encoding.append_chunk(encoder.pattern_of(row));
    if (encoding.patterns_.size() > limit) return std::nullopt;
    if (is_counted || encoding.slots_.size() <= uncounted_slots) continue;
    is_counted = true;
    if (encoder.exceeds(row + chunk_rows, encoding.encoded_end_, limit)) return std::nullopt;
  }
  return encoding;
}

void StencilEncoding::append_chunk(std::int32_t pattern) {
  const auto number = static_cast<std::uint16_t>(pattern);
  const bool begins_group = chunk_count_++ % group_chunks == 0;
  if (begins_group) first_run_.push_back(static_cast<std::uint32_t>(runs_.size()));
  if (begins_group || runs_.back().pattern != number)
    runs_.push_back({number, 1});
  else
    ++runs_.back().chunks;
}

StencilEncoding::Position StencilEncoding::position_of(LocalIndex row) const {
  const LocalIndex chunk = (row - begin_) / chunk_rows;
  const Run* run = runs_.data() + first_run_[static_cast<std::size_t>(chunk / group_chunks)];
  LocalIndex before = chunk % group_chunks;
  for (; before >= run->chunks; ++run) before -= run->chunks;
  return {run, run->chunks - before};
}

template <class Work>
[[gnu::always_inline]] inline void StencilEncoding::for_each_run(LocalIndex first, LocalIndex last,
                                                                 const Work& work) const {
  if (first >= last) return;
  Position at = position_of(first);
  for (LocalIndex row = first;;) {
    const LocalIndex chunks = std::min(at.chunks, (last - row) / chunk_rows);
    work(patterns_[at.run->pattern], row, chunks);
    row += chunks * chunk_rows;
    if (row >= last) return;
    ++at.run;
    at.chunks = at.run->chunks;
  }
}

bool StencilEncoding::reads_only_below(LocalIndex row, LocalIndex end) const {
  const Pattern& pattern = patterns_[position_of(row).run->pattern];
  return row + chunk_rows - 1 + pattern.highest_offset < end;
}

std::int64_t StencilEncoding::bytes() const {
  return static_cast<std::int64_t>(runs_.size() * sizeof(Run));
}

namespace {

/// What is the same in all chunks of a pattern.
enum class SlotValues {
  uniform,  // the eight values of a slot are equal: one register has them
  varying,
  masked  // and some rows have no entry
};

/// As many slots at most have their values and addresses in registers.
constexpr int most_slots_in_registers = 7;

/// Multiplies `chunks` chunks of a pattern whose slots have one value each, as multiply_chunks
/// does. A store to y could change `slots` for all that a compiler knows: it would load all values
/// and offsets again for every chunk.
template <class Simd, int slot_count>
[[gnu::always_inline]] inline void multiply_few(const StencilSlot* slots, std::int64_t chunks,
                                                const double* x, double* y) {
  using Lane8 = typename Simd::Lane8;
  std::array<const double*, slot_count> from{};
  std::array<double, slot_count> values{};
  perfmodel::unrolled<slot_count>([&](auto slot) __attribute__((always_inline)) {
    from[slot] = x + slots[slot].offset;
    values[slot] = slots[slot].values[0];
  });
  for (std::int64_t row = 0; row < chunks * chunk_rows; row += chunk_rows) {
    perfmodel::fetch<Lane8>(row, from[slot_count - 1] + fetch_lead, y + fetch_lead);
    Lane8 sum{};
    perfmodel::unrolled<slot_count>([&](auto slot) __attribute__((always_inline)) {
      sum = sum + values[slot] * Lane8::load(from[slot] + row);
    });
    sum.store(y + row);
  }
}

/// Multiplies `chunks` chunks of the pattern `slots`; x and y begin at the first row of the first
/// chunk.
/// slot_count 0: known at run time only.
template <class Simd, int slot_count, SlotValues kind>
[[gnu::always_inline]] inline void multiply_chunks(const StencilSlot* slots, std::int32_t count,
                                                   std::int64_t chunks, const double* x,
                                                   double* y) {
  if constexpr (kind == SlotValues::uniform && slot_count > 0 &&
                slot_count <= most_slots_in_registers)
    return multiply_few<Simd, slot_count>(slots, chunks, x, y);
  using Lane8 = typename Simd::Lane8;
  using Mask = typename Simd::template Lanes<long long, 8>;
  // The last is most often the foremost; of empty rows there is none.
  const double* const last_x = count > 0 ? x + slots[count - 1].offset : x;
  const auto add = [&](const StencilSlot& slot, std::int64_t row, Lane8& sum)
                       __attribute__((always_inline)) {
                         Lane8 next = Lane8::load(x + row + slot.offset);
                         if constexpr (kind == SlotValues::uniform)
                           next = sum + slot.values[0] * next;
                         else
                           next = sum + Lane8::load(slot.values.data()) * next;
                         if constexpr (kind == SlotValues::masked)
                           sum = select(Mask::load(slot.mask.data()), next, sum);
                         else
                           sum = next;
                       };
  for (std::int64_t row = 0; row < chunks * chunk_rows; row += chunk_rows) {
    perfmodel::fetch<Lane8>(row, last_x + fetch_lead, y + fetch_lead);
    Lane8 sum{};
    if constexpr (slot_count > 0)
      perfmodel::unrolled<slot_count>(
          [&](auto slot) __attribute__((always_inline)) { add(slots[slot], row, sum); });
    else
      for (std::int32_t slot = 0; slot < count; ++slot) add(slots[slot], row, sum);
    sum.store(y + row);
  }
}

template <class Simd, SlotValues kind>
[[gnu::always_inline]] inline void multiply_kind(const StencilSlot* slots, std::int32_t count,
                                                 std::int64_t chunks, const double* x, double* y) {
  switch (count) {  // the stencils people use, fully unrolled
    case 5:
      return multiply_chunks<Simd, 5, kind>(slots, count, chunks, x, y);
    case 7:
      return multiply_chunks<Simd, 7, kind>(slots, count, chunks, x, y);
    case 27:
      return multiply_chunks<Simd, 27, kind>(slots, count, chunks, x, y);
    default:
      return multiply_chunks<Simd, 0, kind>(slots, count, chunks, x, y);
  }
}

}  // namespace

namespace {

/// One chunk for several vectors; x and y begin at its first row.
template <class Simd, int width>
[[gnu::always_inline]] inline void sweep_block(const StencilSlot* slots, std::int32_t slot_count,
                                               bool has_masks, const double* x, double* y) {
  using Lanes = typename Simd::template Lanes<double, width>;  // one entry of each vector
  for (std::size_t lane = 0; lane < chunk_rows; ++lane) {
    const auto row = static_cast<std::int64_t>(lane);
    Lanes total{};
    for (std::int32_t slot = 0; slot < slot_count; ++slot)
      if (!has_masks || slots[slot].mask[lane])
        total += slots[slot].values[lane] * Lanes::load(x + (row + slots[slot].offset) * width);
    total.store(y + row * width);
  }
}

}  // namespace

void StencilEncoding::multiply_block(LocalIndex first, LocalIndex last, int width, const double* x,
                                     double* y) const {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    with_width(width, [&]<int constant>() __attribute__((always_inline)) {
      for_each_run(
          first, last,
          [&](const Pattern& pattern, LocalIndex row, LocalIndex chunks)
              __attribute__((always_inline)) {
                for (const LocalIndex end = row + chunks * chunk_rows; row < end; row += chunk_rows)
                  sweep_block<Simd, constant>(
                      slots_.data() + pattern.first_slot, pattern.slot_count, pattern.has_masks,
                      x + std::int64_t{row} * constant, y + std::int64_t{row - first} * constant);
              });
    });
  });
}

void StencilEncoding::multiply(LocalIndex first, LocalIndex last, const double* x,
                               double* y) const {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    for_each_run(
        first, last,
        [&](const Pattern& pattern, LocalIndex row,
            LocalIndex chunks) __attribute__((always_inline)) {
          const StencilSlot* const slots = slots_.data() + pattern.first_slot;
          const std::int32_t count = pattern.slot_count;
          if (pattern.is_uniform)
            multiply_kind<Simd, SlotValues::uniform>(slots, count, chunks, x + row, y + row);
          else if (pattern.has_masks)
            multiply_chunks<Simd, 0, SlotValues::masked>(slots, count, chunks, x + row, y + row);
          else
            multiply_kind<Simd, SlotValues::varying>(slots, count, chunks, x + row, y + row);
        });
  });
}

}  // namespace weft::spmv
