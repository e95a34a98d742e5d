#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "perfmodel/fetch.h"
#include "perfmodel/simd.h"
#include "spmv/rows/index.h"

namespace weft::spmv {

/// The entries of eight consecutive rows at the same distance between row and column.
struct alignas(64) StencilSlot {
  std::array<double, 8> values = {};
  std::array<long long, 8> mask = {};  // all bits set where the row has such an entry
  LocalIndex offset = 0;  // local column minus row
  bool is_full = false;  // all eight rows have an entry
  bool is_uniform = false;  // with one value, which rows without an entry have, too
};

/// Rows of a chunk.
constexpr LocalIndex stencil_chunk_rows = 8;

/// What is the same in all chunks of a pattern.
enum class SlotValues {
  uniform,  // the eight values of a slot are equal: one register has them
  varying,
  masked  // and some rows have no entry
};

/// Chunks that follow each other and have one pattern.
struct StencilRun {
  const StencilSlot* slots;
  std::int32_t slot_count;
  SlotValues kind;
  std::int64_t chunks;
  std::int32_t diagonal_slot;  // whose values are at `diagonal`; -1: none
  const double* diagonal;  // of the first row
};

/// As many slots at most have their values and addresses in registers.
constexpr int most_slots_in_registers = 7;

/// Σ value·x over the slots of a pattern, whose eight values are equal, for the eight entries from
/// `place` on; those of the slot in the middle are multiplied by `times_diagonal`, where it is one.
/// A store to y could change `slots` for all that a compiler knows: it would load all values and
/// offsets again for every chunk, so they are copied first.
template <class Simd, int slot_count, bool has_diagonal>
class UniformSlots {
 public:
  using Lane8 = typename Simd::Lane8;

  [[gnu::always_inline]] UniformSlots(const StencilSlot* slots, const double* x, int width) {
    perfmodel::unrolled<slot_count>([&](auto slot) __attribute__((always_inline)) {
      from_[slot] = x + std::int64_t{slots[slot].offset} * width;
      values_[slot] = slots[slot].values[0];
    });
  }

  [[gnu::always_inline]] const double* last() const { return from_[slot_count - 1]; }

  template <class TimesDiagonal>
  [[gnu::always_inline]] Lane8 sum(std::int64_t place, const TimesDiagonal& times_diagonal) const {
    Lane8 sum{};
    perfmodel::unrolled<slot_count>([&](auto slot) __attribute__((always_inline)) {
      const Lane8 entries = Lane8::load(from_[slot] + place);
      if constexpr (has_diagonal && slot == slot_count / 2)
        sum = sum + times_diagonal(entries);
      else
        sum = sum + values_[slot] * entries;
    });
    return sum;
  }

 private:
  std::array<const double*, slot_count> from_{};
  std::array<double, slot_count> values_{};
};

/// Multiplies the chunks of a run with uniform slots; x and y begin at its first row.
template <class Simd, int slot_count, bool has_diagonal>
[[gnu::always_inline]] inline void multiply_few(const StencilRun& run, const double* x, double* y) {
  using Lane8 = typename Simd::Lane8;
  const UniformSlots<Simd, slot_count, has_diagonal> slots(run.slots, x, 1);
  const double* const diagonal = run.diagonal;
  for (std::int64_t row = 0; row < run.chunks * stencil_chunk_rows; row += stencil_chunk_rows) {
    perfmodel::fetch<Lane8>(row, slots.last() + perfmodel::fetch_lead, y + perfmodel::fetch_lead);
    slots
        .sum(row,
             [&](const Lane8& entries)
                 __attribute__((always_inline)) { return Lane8::load(diagonal + row) * entries; })
        .store(y + row);
  }
}

/// Multiplies the chunks of a run; x and y begin at its first row. slot_count 0: known at run time
/// only. has_diagonal: where slots are uniform and their number is known, it is the one in the
/// middle.
template <class Simd, int slot_count, SlotValues kind, bool has_diagonal>
[[gnu::always_inline]] inline void multiply_chunks(const StencilRun& run, const double* x,
                                                   double* y) {
  if constexpr (kind == SlotValues::uniform && slot_count > 0 &&
                slot_count <= most_slots_in_registers)
    return multiply_few<Simd, slot_count, has_diagonal>(run, x, y);
  using Lane8 = typename Simd::Lane8;
  using Mask = typename Simd::template Lanes<long long, 8>;
  const StencilSlot* const slots = run.slots;
  // The last is most often the foremost; of empty rows there is none.
  const double* const last_x = run.slot_count > 0 ? x + slots[run.slot_count - 1].offset : x;
  const auto add = [&](std::int32_t number, std::int64_t row,
                       Lane8& sum) __attribute__((always_inline)) {
    const StencilSlot& slot = slots[number];
    const bool is_diagonal = has_diagonal && number == run.diagonal_slot;
    const double* const values = is_diagonal ? run.diagonal + row : slot.values.data();
    Lane8 next = Lane8::load(x + row + slot.offset);
    if constexpr (kind == SlotValues::uniform && !has_diagonal)
      next = sum + slot.values[0] * next;
    else
      next = sum + Lane8::load(values) * next;
    if constexpr (kind == SlotValues::masked)
      if (!slot.is_full) next = select(Mask::load(slot.mask.data()), next, sum);
    sum = next;
  };
  for (std::int64_t row = 0; row < run.chunks * stencil_chunk_rows; row += stencil_chunk_rows) {
    perfmodel::fetch<Lane8>(row, last_x + perfmodel::fetch_lead, y + perfmodel::fetch_lead);
    Lane8 sum{};
    if constexpr (slot_count > 0)
      perfmodel::unrolled<slot_count>([&](auto slot)
                                          __attribute__((always_inline)) { add(slot, row, sum); });
    else
      for (std::int32_t slot = 0; slot < run.slot_count; ++slot) add(slot, row, sum);
    sum.store(y + row);
  }
}

template <class Simd, SlotValues kind>
[[gnu::always_inline]] inline void multiply_kind(const StencilRun& run, const double* x,
                                                 double* y) {
  switch (run.slot_count) {  // the stencils people use, fully unrolled
    case 5:
      return multiply_chunks<Simd, 5, kind, false>(run, x, y);
    case 7:
      return multiply_chunks<Simd, 7, kind, false>(run, x, y);
    case 27:
      return multiply_chunks<Simd, 27, kind, false>(run, x, y);
    default:
      return multiply_chunks<Simd, 0, kind, false>(run, x, y);
  }
}

/// Multiplies a run whose diagonal stands apart.
template <class Simd>
[[gnu::always_inline]] inline void multiply_beside_diagonal(const StencilRun& run, const double* x,
                                                            double* y) {
  if (run.kind == SlotValues::masked)
    return multiply_chunks<Simd, 0, SlotValues::masked, true>(run, x, y);
  if (run.kind == SlotValues::uniform && run.diagonal_slot == run.slot_count / 2) {
    if (run.slot_count == 5) return multiply_few<Simd, 5, true>(run, x, y);
    if (run.slot_count == 7) return multiply_few<Simd, 7, true>(run, x, y);
  }
  multiply_chunks<Simd, 0, SlotValues::varying, true>(run, x, y);
}

/// y = A·x on the rows of a run; x and y begin at its first row.
template <class Simd>
[[gnu::always_inline]] inline void multiply_run(const StencilRun& run, const double* x, double* y) {
  if (run.diagonal)
    multiply_beside_diagonal<Simd>(run, x, y);
  else if (run.kind == SlotValues::uniform)
    multiply_kind<Simd, SlotValues::uniform>(run, x, y);
  else if (run.kind == SlotValues::masked)
    multiply_chunks<Simd, 0, SlotValues::masked, false>(run, x, y);
  else
    multiply_kind<Simd, SlotValues::varying>(run, x, y);
}

/// Multiplies the chunks of a run with uniform slots by several vectors, whose entries stand
/// together row by row: eight entries at a time, of one row or several.
///
///     4 vectors:   a0 b0 c0 d0 a1 b1 c1 d1   times the diagonal   d0 d0 d0 d0 d1 d1 d1 d1
template <class Simd, int width, int slot_count, bool has_diagonal>
[[gnu::always_inline]] inline void multiply_few_of_block(const StencilRun& run, const double* x,
                                                         double* y) {
  using Lane8 = typename Simd::Lane8;
  const UniformSlots<Simd, slot_count, has_diagonal> slots(run.slots, x, width);
  for (std::int64_t piece = 0; piece < run.chunks * width; ++piece) {
    const std::int64_t row = 8 * piece / width;
    __builtin_prefetch(slots.last() + 8 * piece + perfmodel::fetch_lead, 0, 2);
    slots
        .sum(8 * piece,
             [&](const Lane8& entries) __attribute__((always_inline)) {
               return entries.times_each([&](int lane) __attribute__((always_inline)) {
                 return run.diagonal[row + lane / width];
               });
             })
        .store(y + 8 * piece);
  }
}

/// Adds value·x of a slot to the sums of eight entries each, of rows that begin where `values` and
/// `mask` do. A row without an entry adds +0, which changes no sum that began with +0.
template <class Lane8, int width, std::size_t pieces>
[[gnu::always_inline]] inline void add_slot(const StencilSlot& slot, bool has_one_value,
                                            const double* values, const long long* mask,
                                            const double* x, std::array<Lane8, pieces>& sums) {
  const auto add = [&](const auto& times) __attribute__((always_inline)) {
    perfmodel::unrolled<pieces>([&](auto piece) __attribute__((always_inline)) {
      const auto row_of = [&](int lane)
                              __attribute__((always_inline)) { return (8 * piece + lane) / width; };
      const Lane8 term = times(Lane8::load(x + 8 * piece), row_of);
      if (slot.is_full)
        sums[piece] += term;
      else
        sums[piece] += term.kept_where_each(
            [&](int lane) __attribute__((always_inline)) { return mask[row_of(lane)]; });
    });
  };
  if (has_one_value)
    add([&](const Lane8& entries, const auto& /*row_of*/)
            __attribute__((always_inline)) { return values[0] * entries; });
  else
    add([&](const Lane8& entries, const auto& row_of) __attribute__((always_inline)) {
      return entries.times_each(
          [&](int lane) __attribute__((always_inline)) { return values[row_of(lane)]; });
    });
}

/// Multiplies the chunks of a run with any slots by 2, 4 or 8 vectors: at most four times eight
/// entries at once, whose sums stay in registers.
template <class Simd, int width>
[[gnu::always_inline]] inline void multiply_any_of_block(const StencilRun& run, const double* x,
                                                         double* y) {
  constexpr int pieces = std::min(width, 4);
  constexpr LocalIndex rows = pieces * 8 / width;
  for (std::int64_t row = 0; row < run.chunks * stencil_chunk_rows; row += rows) {
    const std::int64_t first = row % stencil_chunk_rows;
    std::array<typename Simd::Lane8, pieces> sums{};
    for (std::int32_t number = 0; number < run.slot_count; ++number) {
      const StencilSlot& slot = run.slots[number];
      const bool is_diagonal = number == run.diagonal_slot;
      const double* const values = is_diagonal ? run.diagonal + row : slot.values.data() + first;
      add_slot<typename Simd::Lane8, width>(slot, slot.is_uniform && !is_diagonal, values,
                                            slot.mask.data() + first,
                                            x + (row + slot.offset) * width, sums);
    }
    perfmodel::unrolled<pieces>([&](auto piece) __attribute__((always_inline)) {
      sums[piece].store(y + row * width + 8 * piece);
    });
  }
}

/// Multiplies the chunks of a run with any slots row by row: for so many vectors that a row fills
/// several registers.
template <class Simd, int width, bool has_diagonal>
[[gnu::always_inline]] inline void multiply_rows_of_block(const StencilRun& run, const double* x,
                                                          double* y) {
  using Lanes = typename Simd::template Lanes<double, width>;  // one entry of each vector
  const StencilSlot* const slots = run.slots;
  const bool has_masks = run.kind == SlotValues::masked;
  for (std::int64_t row = 0; row < run.chunks * stencil_chunk_rows; ++row) {
    const auto lane = static_cast<std::size_t>(row % stencil_chunk_rows);
    Lanes total{};
    for (std::int32_t slot = 0; slot < run.slot_count; ++slot) {
      if (has_masks && !slots[slot].mask[lane]) continue;
      const bool is_diagonal = has_diagonal && slot == run.diagonal_slot;
      const double value = is_diagonal ? run.diagonal[row] : slots[slot].values[lane];
      total += value * Lanes::load(x + (row + slots[slot].offset) * width);
    }
    total.store(y + row * width);
  }
}

/// Y = A·X on the rows of a run for several vectors; x and y begin at its first row.
template <class Simd, int width>
[[gnu::always_inline]] inline void multiply_run_of_block(const StencilRun& run, const double* x,
                                                         double* y) {
  if (run.kind == SlotValues::uniform && !run.diagonal) {
    if (run.slot_count == 5) return multiply_few_of_block<Simd, width, 5, false>(run, x, y);
    if (run.slot_count == 7) return multiply_few_of_block<Simd, width, 7, false>(run, x, y);
  }
  if (run.kind == SlotValues::uniform && run.diagonal_slot == run.slot_count / 2) {
    if (run.slot_count == 5) return multiply_few_of_block<Simd, width, 5, true>(run, x, y);
    if (run.slot_count == 7) return multiply_few_of_block<Simd, width, 7, true>(run, x, y);
  }
  constexpr int most_registers = 2;  // of a row
  if constexpr (8 * width <= most_registers * Simd::register_bytes)
    multiply_any_of_block<Simd, width>(run, x, y);
  else if (run.diagonal)
    multiply_rows_of_block<Simd, width, true>(run, x, y);
  else
    multiply_rows_of_block<Simd, width, false>(run, x, y);
}

}  // namespace weft::spmv
