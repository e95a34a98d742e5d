#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "spmv/rows/index.h"

namespace weft::spmv {

/// True if columns least … most are stored as 16-bit distances from the least one: a word each
/// instead of two.
inline bool fit_one_word(LocalIndex least, LocalIndex most) {
  return most - least <= std::numeric_limits<std::uint16_t>::max();
}

/// Stores a column as number `place` of those at `words`.
template <bool is_wide>
void store_column(std::uint16_t* words, std::size_t place, LocalIndex column, LocalIndex least) {
  if constexpr (is_wide)
    std::memcpy(words + 2 * place, &column, sizeof column);
  else
    words[place] = static_cast<std::uint16_t>(column - least);
}

/// Reads columns that were stored: less the least one, where they have a word each.
template <bool is_wide>
struct ColumnReader {
  const std::uint16_t* words;

  [[gnu::always_inline]] std::int64_t operator[](std::size_t place) const {
    if constexpr (!is_wide) return words[place];
    LocalIndex column = 0;
    std::memcpy(&column, words + 2 * place, sizeof column);
    return column;
  }
  [[gnu::always_inline]] void advance(std::size_t count) { words += (is_wide ? 2 : 1) * count; }
};

}  // namespace weft::spmv
