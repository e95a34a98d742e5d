#include "spmv/matrix/stencil_encoding.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "perfmodel/simd.h"
#include "spmv/matrix/block_group.h"

namespace weft::spmv {
namespace {

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

/// Notes what all rows of a slot have in common, once those with an entry have been seen.
void complete(StencilSlot& slot) {
  const auto present = std::ranges::find_if(slot.mask, [](long long bits) { return bits != 0; });
  const double value = slot.values[static_cast<std::size_t>(present - slot.mask.begin())];
  slot.is_full = slot.is_uniform = true;
  for (std::size_t lane = 0; lane < slot.values.size(); ++lane) {
    if (slot.mask[lane] == 0) {
      slot.is_full = false;
      slot.values[lane] = value;
    }
    slot.is_uniform = slot.is_uniform && std::bit_cast<std::uint64_t>(slot.values[lane]) ==
                                             std::bit_cast<std::uint64_t>(value);
  }
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  return (std::rotl(hash, 5) ^ word) * 0x9e3779b97f4a7c15ULL;
}

}  // namespace

/// Builds the dictionary chunk by chunk.
class StencilEncoding::Encoder {
 public:
  Encoder(const DistributedMatrix& matrix, StencilEncoding& encoding, bool without_diagonal)
      : matrix_(matrix),
        rows_(matrix.rows),
        encoding_(encoding),
        without_diagonal_(without_diagonal) {}

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
        if (is_apart(rows_.columns[entry] - (row + lane))) continue;
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
        if (!is_apart(rows_.columns[entry] - (row + lane)))
          hash = mix(hash, std::bit_cast<std::uint64_t>(rows_.values[entry]));
      }
      hash = mix(hash, static_cast<std::uint64_t>(lane));
    }
    return hash;
  }

  /// The entries of a chunk in the order of its slots.
  std::vector<ChunkEntry> entries_of(LocalIndex row) const {
    std::vector<ChunkEntry> entries;
    for (LocalIndex lane = 0; lane < chunk_rows; ++lane)
      for (std::int64_t k = begin_of(row + lane); k < begin_of(row + lane + 1); ++k) {
        const LocalIndex column = rows_.columns[static_cast<std::size_t>(k)];
        entries.push_back(
            {matrix_.global_column(column) - (matrix_.first_row() + row + lane),
             column - (row + lane), lane,
             is_apart(column - (row + lane)) ? 0.0 : rows_.values[static_cast<std::size_t>(k)]});
      }
    std::sort(entries.begin(), entries.end(), [](const ChunkEntry& a, const ChunkEntry& b) {
      return a.distance != b.distance ? a.distance < b.distance : a.offset < b.offset;
    });
    return entries;
  }

  std::int32_t add_pattern(LocalIndex row) {
    const std::vector<ChunkEntry> entries = entries_of(row);
    std::vector<StencilSlot>& slots = encoding_.slots_;
    const auto first = static_cast<std::int32_t>(slots.size());
    LocalIndex highest = -rows_.row_count;
    std::int32_t diagonal_slot = -1;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const bool opens_slot = i == 0 || entries[i].distance != entries[i - 1].distance ||
                              entries[i].offset != entries[i - 1].offset;
      if (opens_slot) {
        if (is_apart(entries[i].offset))
          diagonal_slot = static_cast<std::int32_t>(slots.size()) - first;
        slots.push_back({.offset = entries[i].offset});
        highest = std::max(highest, entries[i].offset);
      }
      slots.back().values[static_cast<std::size_t>(entries[i].lane)] = entries[i].value;
      slots.back().mask[static_cast<std::size_t>(entries[i].lane)] = -1;
    }
    const auto count = static_cast<std::int32_t>(slots.size()) - first;
    const bool has_masks = entries.size() != static_cast<std::size_t>(count) * chunk_rows;
    bool is_uniform = true;
    for (StencilSlot& slot : std::span(slots).subspan(static_cast<std::size_t>(first))) {
      complete(slot);
      is_uniform = is_uniform && slot.is_uniform;
    }
    const SlotValues kind = has_masks    ? SlotValues::masked
                            : is_uniform ? SlotValues::uniform
                                         : SlotValues::varying;
    encoding_.patterns_.push_back({first, count, kind, diagonal_slot, highest});
    return static_cast<std::int32_t>(encoding_.patterns_.size()) - 1;
  }

  /// True if the value of an entry at that distance from the diagonal is no part of the pattern.
  bool is_apart(LocalIndex offset) const { return without_diagonal_ && offset == 0; }

  std::int64_t begin_of(LocalIndex row) const {
    return rows_.row_offsets[static_cast<std::size_t>(row)];
  }

  const DistributedMatrix& matrix_;
  const CrsMatrix& rows_;
  StencilEncoding& encoding_;
  bool without_diagonal_;
  std::int32_t last_ = -1;
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> patterns_by_hash_;
};

std::optional<StencilEncoding> StencilEncoding::encode(const DistributedMatrix& matrix,
                                                       LocalIndex begin, LocalIndex end) {
  StencilEncoding encoding(begin);
  if (encoding.find_patterns(matrix, end, false)) return encoding;
  encoding = StencilEncoding(begin);
  if (!encoding.find_patterns(matrix, end, true)) return std::nullopt;
  encoding.take_diagonal(matrix.rows);
  return encoding;
}

/// Stores rows begin_ … end-1 as patterns; false where these are too many.
bool StencilEncoding::find_patterns(const DistributedMatrix& matrix, LocalIndex end,
                                    bool without_diagonal) {
  encoded_end_ = begin_ + (end - begin_) / chunk_rows * chunk_rows;
  const auto chunks = static_cast<std::size_t>((encoded_end_ - begin_) / chunk_rows);
  const std::size_t limit = std::min(most_patterns, chunks / chunks_per_pattern);
  Encoder encoder(matrix, *this, without_diagonal);
  bool is_counted = false;
  for (LocalIndex row = begin_; row < encoded_end_; row += chunk_rows) {
    append_chunk(encoder.pattern_of(row));
    if (patterns_.size() > limit) return false;
    if (is_counted || slots_.size() <= uncounted_slots) continue;
    is_counted = true;
    if (encoder.exceeds(row + chunk_rows, encoded_end_, limit)) return false;
  }
  return true;
}

/// Copies the diagonal of the encoded rows; 0 where a row has none.
void StencilEncoding::take_diagonal(const CrsMatrix& rows) {
  diagonal_ = perfmodel::HugePageBuffer<double>(static_cast<std::size_t>(encoded_end_ - begin_));
  for (LocalIndex row = begin_; row < encoded_end_; ++row) {
    double& value = diagonal_[static_cast<std::size_t>(row - begin_)];
    value = 0;
    for (auto k = rows.row_offsets[static_cast<std::size_t>(row)];
         k < rows.row_offsets[static_cast<std::size_t>(row) + 1]; ++k)
      if (rows.columns[static_cast<std::size_t>(k)] == row)
        value = rows.values[static_cast<std::size_t>(k)];
  }
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
  return static_cast<std::int64_t>(runs_.size() * sizeof(Run) + diagonal_.size() * sizeof(double));
}

/// What the kernels need of a run, from the pattern's slots and the diagonal.
StencilRun StencilEncoding::run_of(const Pattern& pattern, LocalIndex row,
                                   LocalIndex chunks) const {
  return {.slots = slots_.data() + pattern.first_slot,
          .slot_count = pattern.slot_count,
          .kind = pattern.kind,
          .chunks = chunks,
          .diagonal_slot = pattern.diagonal_slot,
          .diagonal = has_diagonal() ? diagonal_.data() + (row - begin_) : nullptr};
}

void StencilEncoding::multiply_block(LocalIndex first, LocalIndex last, int width, const double* x,
                                     double* y) const {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    with_width(width, [&]<int constant>() __attribute__((always_inline)) {
      for_each_run(first, last,
                   [&](const Pattern& pattern, LocalIndex row, LocalIndex chunks)
                       __attribute__((always_inline)) {
                         multiply_run_of_block<Simd, constant>(
                             run_of(pattern, row, chunks), x + std::int64_t{row} * constant,
                             y + std::int64_t{row - first} * constant);
                       });
    });
  });
}

void StencilEncoding::multiply(LocalIndex first, LocalIndex last, const double* x,
                               double* y) const {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    for_each_run(first, last,
                 [&](const Pattern& pattern, LocalIndex row, LocalIndex chunks)
                     __attribute__((always_inline)) {
                       multiply_run<Simd>(run_of(pattern, row, chunks), x + row, y + row);
                     });
  });
}

}  // namespace weft::spmv
