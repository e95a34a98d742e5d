#include "spmv/matrix/stencil_encoding.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>

#include "perfmodel/fetch.h"
#include "spmv/matrix/block_group.h"

namespace weft::spmv {
namespace {

using perfmodel::fetch_lead;
using perfmodel::Lane8;
using perfmodel::lanes;

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
        if (encoding_.slots_[slot].mask[lane] == 0) continue;
        if (k == end) return false;
        const auto entry = static_cast<std::size_t>(k++);
        if (rows_.columns[entry] != row + lane + encoding_.slots_[slot].offset) return false;
        const double value = encoding_.slots_[slot].values[lane];
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
      slots.back().values[entries[i].lane] = entries[i].value;
      slots.back().mask[entries[i].lane] = -1;
    }
    const auto count = static_cast<std::int32_t>(slots.size()) - first;
    const bool has_masks = entries.size() != static_cast<std::size_t>(count) * chunk_rows;
    encoding_.patterns_.push_back({first, count, has_masks, highest});
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
  encoding.pattern_of_chunk_.reserve(chunks);
  Encoder encoder(matrix, encoding);
  bool is_counted = false;
  for (LocalIndex row = begin; row < encoding.encoded_end_; row += chunk_rows) {
    encoding.pattern_of_chunk_.push_back(encoder.pattern_of(row));
    if (encoding.patterns_.size() > limit) return std::nullopt;
    if (is_counted || encoding.slots_.size() <= uncounted_slots) continue;
    is_counted = true;
    if (encoder.exceeds(row + chunk_rows, encoding.encoded_end_, limit)) return std::nullopt;
  }
  return encoding;
}

bool StencilEncoding::reads_only_below(LocalIndex row, LocalIndex end) const {
  const Pattern& pattern = patterns_[static_cast<std::size_t>(*pattern_of(row))];
  return row + chunk_rows - 1 + pattern.highest_offset < end;
}

std::int64_t StencilEncoding::bytes() const {
  return static_cast<std::int64_t>(pattern_of_chunk_.size() * sizeof(std::int32_t));
}

namespace {

/// Multiplies `chunks` chunks of the pattern `slots`; x and y begin at the first row of the first
/// chunk.
/// SlotCount 0: known at run time only.
template <int SlotCount, bool HasMasks>
[[gnu::always_inline]] inline void multiply_chunks(const StencilSlot* slots, std::int32_t count,
                                                   std::int64_t chunks, const double* x,
                                                   double* y) {
  const std::int32_t slot_count = SlotCount ? SlotCount : count;
  // The last is most often the foremost; of empty rows there is none.
  const double* const last_x = slot_count > 0 ? x + slots[slot_count - 1].offset : x;
  for (std::int64_t row = 0; row < chunks * chunk_rows; row += chunk_rows) {
    perfmodel::fetch<perfmodel::Lanes>(row, last_x + fetch_lead, y + fetch_lead);
    Lane8 sum = {};
    for (std::int32_t slot = 0; slot < slot_count; ++slot) {
      const Lane8 next = sum + slots[slot].values * lanes(x + row + slots[slot].offset).value;
      sum = HasMasks ? (slots[slot].mask ? next : sum) : next;
    }
    lanes(y + row).value = sum;
  }
}

[[gnu::always_inline]] inline void multiply_any(const StencilSlot* slots, std::int32_t count,
                                                bool has_masks, std::int64_t chunks,
                                                const double* x, double* y) {
  if (has_masks) return multiply_chunks<0, true>(slots, count, chunks, x, y);
  switch (count) {  // the stencils people use, fully unrolled
    case 5:
      return multiply_chunks<5, false>(slots, count, chunks, x, y);
    case 7:
      return multiply_chunks<7, false>(slots, count, chunks, x, y);
    case 27:
      return multiply_chunks<27, false>(slots, count, chunks, x, y);
    default:
      return multiply_chunks<0, false>(slots, count, chunks, x, y);
  }
}

}  // namespace

namespace {

/// One chunk for several vectors; x and y begin at its first row.
template <int width>
[[gnu::always_inline]] inline void sweep_block(const StencilSlot* slots, std::int32_t slot_count,
                                               bool has_masks, const double* x, double* y) {
  const auto* const groups = reinterpret_cast<const BlockGroup<width>*>(x);
  auto* const results = reinterpret_cast<BlockGroup<width>*>(y);
  for (LocalIndex row = 0; row < chunk_rows; ++row) {
    auto total = BlockGroup<width>{}.value;
    for (std::int32_t slot = 0; slot < slot_count; ++slot)
      if (!has_masks || slots[slot].mask[row])
        total += slots[slot].values[row] * groups[row + slots[slot].offset].value;
    results[row].value = total;
  }
}

}  // namespace

void StencilEncoding::multiply_block(LocalIndex first, LocalIndex last, int width, const double* x,
                                     double* y) const {
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    with_width(width, [&]<int constant>() __attribute__((always_inline)) {
      for (LocalIndex row = first; row < last; row += chunk_rows) {
        const Pattern& pattern = patterns_[static_cast<std::size_t>(*pattern_of(row))];
        sweep_block<constant>(slots_.data() + pattern.first_slot, pattern.slot_count,
                              pattern.has_masks, x + std::int64_t{row} * constant,
                              y + std::int64_t{row - first} * constant);
      }
    });
  });
}

void StencilEncoding::multiply(LocalIndex first, LocalIndex last, const double* x,
                               double* y) const {
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    const std::int32_t* numbers = pattern_of(first);
    for (LocalIndex row = first; row < last;) {
      LocalIndex chunks = 1;
      while (row + chunks * chunk_rows < last && numbers[chunks] == numbers[0]) ++chunks;
      const Pattern& pattern = patterns_[static_cast<std::size_t>(numbers[0])];
      multiply_any(slots_.data() + pattern.first_slot, pattern.slot_count, pattern.has_masks,
                   chunks, x + row, y + row);
      numbers += chunks;
      row += chunks * chunk_rows;
    }
  });
}

}  // namespace weft::spmv
