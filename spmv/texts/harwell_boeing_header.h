#pragma once

#include <cstdint>
#include <string_view>

#include "spmv/files/matrix_market_header.h"
#include "spmv/rows/index.h"
#include "spmv/texts/fortran_format.h"

namespace weft::spmv {

/// Header of a Harwell-Boeing or a Rutherford-Boeing file, which is the same but for right-hand
/// sides:
///
///     title, key
///     lines in all, of pointers, of row indices, of values [, of right-hand sides]
///     type, rows, columns, entries, element entries
///     formats of pointers, row indices, values [, right-hand sides]
///     [type, number, indices of right-hand sides, where there are lines of these]
///
/// Source: Duff, Grimes, Lewis 1992, "Users' guide for the Harwell-Boeing sparse matrix
/// collection"; Duff, Grimes, Lewis 1997, "The Rutherford-Boeing sparse matrix collection".
struct HarwellBoeingHeader {
  enum class Values { real, integer, complex, pattern };
  using Symmetry = MatrixMarketHeader::Symmetry;
  /// Lines that the header announces.
  struct Lines {
    std::int64_t pointers = 0;
    std::int64_t indices = 0;
    std::int64_t values = 0;
    std::int64_t right_hand_sides = 0;
  };

  Lines lines;
  Values values = Values::real;
  Symmetry symmetry = Symmetry::general;
  GlobalIndex row_count = 0;
  GlobalIndex column_count = 0;
  std::int64_t entry_count = 0;
  FortranFormat pointer_format;
  FortranFormat index_format;
  FortranFormat value_format;
  FortranFormat right_hand_side_format;
  std::int64_t right_hand_side_count = 0;
  bool has_whole_right_hand_sides = false;  // every number of them, not sparse ones
  std::int64_t line_count = 4;
};

/// Reads the header from the first lines of a text, `block`, each ended by '\n'. `line`: gets the
/// number of the line with the fault, from 1, if this throws.
/// Throws TextFault: also for matrices of unassembled elements, and those that are not square.
HarwellBoeingHeader read_harwell_boeing_header(std::string_view block, std::int64_t& line);

}  // namespace weft::spmv
