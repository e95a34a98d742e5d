#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmv/rows/index.h"

namespace weft::spmv {

/// Where rows and columns of entries without a header count from. `found`: from 0 if an index is 0,
/// else from 1.
enum class IndexBase { found, zero, one };

/// IndexBase::found for an empty word, else "0" or "1".
IndexBase parse_index_base(const std::string& word);

/// Header of a Matrix Market file.
struct MatrixMarketHeader {
  enum class Format { coordinate, array };
  /// complex: read as real where all imaginary parts are zero.
  enum class Field { real, integer, pattern, complex };
  enum class Symmetry { general, symmetric, skew_symmetric };

  Format format = Format::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  GlobalIndex row_count = 0;
  GlobalIndex column_count = 0;
  std::int64_t entry_count = 0;  // lines of data; an array has them column by column
  std::int64_t line_count = 0;  // lines of the header; the size line is the last one
  std::int64_t data_begin = 0;  // characters of the header
  std::int64_t base = 1;  // the first row and the first column
  bool is_counted = true;  // false: sizes are not there yet, and indices may be any from 0
  /// Where the first line of entries may be "ROWS ROWS ENTRIES" instead: these; else 0.
  GlobalIndex announced_rows = 0;
  std::int64_t announced_entries = 0;
  bool has_lines_of_rows = false;  // an array with the numbers of a row in one line, not in several
  std::int64_t numbers_a_line = 0;  // of rows of one number, of which a line has so many; else 0
  /// Words of the first line of entries whose row and column are written as reals, which may be a
  /// row of a dense matrix instead; else 0.
  std::int64_t words_of_reals = 0;
};

/// Reads a header line by line.
///
/// Throws TextFault; the line with the fault is number `lines_taken()`.
/// Source: Boisvert, Pozo, Remington 1996, "The Matrix Market exchange formats", NISTIR 5935.
class MatrixMarketHeaderParser {
 public:
  /// Takes the next line, which ends in '\n'; true when the header is complete.
  bool take(std::string_view line);

  std::int64_t lines_taken() const { return header_.line_count; }
  const MatrixMarketHeader& header() const { return header_; }

  /// Says that the text ended before the header was complete.
  [[noreturn]] void fail_at_end() const;

 private:
  void take_banner(std::string_view line);
  void take_sizes(std::string_view line);

  MatrixMarketHeader header_;
};

/// Which place each number of an array has: column by column, of a symmetric one the lower
/// triangle, of a skew-symmetric one without the diagonal.
class MatrixMarketArray {
 public:
  explicit MatrixMarketArray(const MatrixMarketHeader& header);

  /// Row and column of the number, all three from 0.
  std::pair<GlobalIndex, GlobalIndex> place_of(std::int64_t number) const;
  /// Numbers before a column, which may be the one behind the last.
  std::int64_t first_of_column(GlobalIndex column) const;

 private:
  GlobalIndex row_count_;
  GlobalIndex column_count_;
  bool is_triangle_;
  GlobalIndex skipped_;  // rows from the diagonal to the first number of a column
};

/// The words of a line, which blanks part.
std::vector<std::string_view> words_of(std::string_view line);

/// Throw TextFault unless the file holds a square matrix, or columns of numbers. Each may be
/// written sparse or as an array.
void check_is_square_matrix(const MatrixMarketHeader& header);
void check_is_array(const MatrixMarketHeader& header);

/// Throws TextFault when the rows are too many for local numbers of 32 bits.
void check_fits_ranks(const MatrixMarketHeader& header, int rank_count);

/// Throws TextFault where `text`, the beginning of a file, is in UTF-16.
void expect_one_byte_a_letter(std::string_view text);

/// Throws TextFault when the file is far too small for its sizes: where it announces more entries
/// than there is room for, or so many rows that hardly one could have an entry. Small matrices
/// pass, because their last line tells more. `stored_bytes`: of the whole file.
void check_fits_file(const MatrixMarketHeader& header, std::int64_t stored_bytes,
                     bool is_compressed);

/// What a text without a Matrix Market header is read for. Lines of several numbers are entries of
/// a matrix, or rows of columns.
enum class TextUse { matrix, columns };

/// Finds out what a text holds by its first lines, `block`, each ended by '\n':
///
///     # HashMatrix Matrix (COO) …        FreeFEM 4: sizes, then `i j value`
///     # Sparse Matrix (Morse) …          FreeFEM, older, or with tgv=-1: the same
///     i j value                          the entries of a square matrix, as large as they say
///     i j                                ones; i and j also as reals, as numpy.savetxt writes them
///     value                              a vector
///     value value …                      columns, one row a line; only for TextUse::columns
///     n, then value value …              a vector of FreeFEM, five numbers a line
///
/// Comments (# or %) may stand before. CalculiX writes one triangle of a symmetric matrix, by the
/// name. `lines_taken`: gets the number of the line with the fault, from 1, if this throws.
/// Throws TextFault.
/// Source: FreeFEM 4.11, HashMatrix.hpp; CalculiX 2.20, `*FREQUENCY, SOLVER=MATRIXSTORAGE`.
MatrixMarketHeader read_triplet_header(std::string_view path, std::string_view block, TextUse use,
                                       std::int64_t& lines_taken);

}  // namespace weft::spmv
