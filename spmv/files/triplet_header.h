#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "spmv/files/matrix_market_header.h"

namespace weft::spmv {

/// True for names of texts of entries or numbers without a Matrix Market header: `.txt`, `.dat`,
/// `.ijv`, `.coo`, and CalculiX's `.sti` and `.mas`.
bool is_triplet_name(std::string_view path);

/// Finds out what a text holds by its first lines, `block`, each ended by '\n':
///
///     # HashMatrix Matrix (COO) …        FreeFEM 4: sizes, then `i j value`
///     # Sparse Matrix (Morse) …          FreeFEM, older, or with tgv=-1: the same
///     i j value                          the entries of a square matrix, as large as they say
///     i j                                ones
///     value                              a vector
///
/// Comments (# or %) may stand before. CalculiX writes one triangle of a symmetric matrix, by the
/// name. `lines_taken`: gets the number of the line with the fault, from 1, if this throws.
/// Throws TextFault.
/// Source: FreeFEM 4.11, HashMatrix.hpp; CalculiX 2.20, `*FREQUENCY, SOLVER=MATRIXSTORAGE`.
MatrixMarketHeader read_triplet_header(std::string_view path, std::string_view block,
                                       std::int64_t& lines_taken);

}  // namespace weft::spmv
