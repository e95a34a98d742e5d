#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>

#include "spmv/files/matrix_market_header.h"
#include "spmv/files/text_lines.h"
#include "spmv/rows/index.h"

namespace weft::spmv {

/// One entry of a matrix; row and column from 0.
struct MatrixEntry {
  GlobalIndex row = 0;
  GlobalIndex column = 0;
  double value = 1.0;
};

/// Reads the lines of data of one Matrix Market file.
///
/// Works on text in which every line ends in '\n', so that no scan needs to look for the end of
/// the text. Per line of 34 characters about 15 ns without and 40 ns with the
/// value.
/// Thread: any.
class MatrixMarketEntries {
 public:
  enum class Values { skip, parse };

  explicit MatrixMarketEntries(const MatrixMarketHeader& header)
      : header_(header),
        row_limit_(to_unsigned(header.row_count)),
        column_limit_(to_unsigned(header.column_count)),
        base_(to_unsigned(header.base)) {
    // Programs write "integer" above arrays of other numbers, too.
    if (header.format == MatrixMarketHeader::Format::array &&
        header.field == MatrixMarketHeader::Field::integer)
      header_.field = MatrixMarketHeader::Field::real;
  }

  /// Calls `take(MatrixEntry)` for every entry of `block` and returns the number of data lines;
  /// stops at the first wrong line and returns -1.
  ///
  /// `Values::skip` reads rows and columns only: the rest of the line may be anything, and values
  /// are 1.
  template <class Take>
  std::int64_t parse(std::string_view block, Values values, Take&& take) const;

  /// Does the same for the lines of an array, in which the first number of `block` is number `next`
  /// from 0; advances `next`.
  template <class Take>
  std::int64_t parse_array(std::string_view block, std::int64_t& next, Take&& take) const;

  /// Does the same for lines that have the numbers of a row each, or several of a vector; `next`
  /// counts lines.
  template <class Take>
  std::int64_t parse_rows(std::string_view block, std::int64_t& next, Take&& take) const;

  /// Fault of data line `number`, from 0, in the words of TextFault; empty if it is correct.
  std::string fault_of(std::string_view line, std::int64_t number = 0) const;

 private:
  static std::uint64_t to_unsigned(std::int64_t value) { return static_cast<std::uint64_t>(value); }

  /// These return where they stopped, or null.
  const char* parse_index(const char* text, std::uint64_t limit, GlobalIndex& index) const;
  const char* parse_place(const char* text, MatrixEntry& entry) const;
  const char* parse_real_index(const char* text, const char* end, std::uint64_t limit,
                               GlobalIndex& index) const;
  const char* parse_real_place(const char* text, const char* end, MatrixEntry& entry) const;
  const char* parse_value(const char* text, const char* end, double& value) const;
  /// Value and end of the line.
  const char* parse_rest(const char* text, const char* end, MatrixEntry& entry) const;
  std::string fault_of_value(const char* text, const char* end) const;
  std::string fault_of_row(std::string_view line, std::int64_t number) const;
  /// Of data line `number` of an array with several in each.
  std::int64_t numbers_of_line(std::int64_t number) const {
    return header_.numbers_a_line > 0
               ? std::min(header_.numbers_a_line,
                          header_.row_count - number * header_.numbers_a_line)
               : header_.column_count;
  }

  MatrixMarketHeader header_;
  std::uint64_t row_limit_;
  std::uint64_t column_limit_;
  std::uint64_t base_;
};

/// Space, tab, and the '\r' of DOS line ends.
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

inline const char* skip_blanks(const char* text) {
  while (is_blank(*text)) ++text;
  return text;
}

/// Reads a finite number up to a blank or '\n' and returns where that is, or null. Takes what
/// Fortran writes: a leading '+', 'D' for the exponent, and no letter before one of three digits.
const char* parse_unusual_real(const char* text, double& value);
inline const char* parse_real(const char* text, const char* end, double& value) {
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error == std::errc() && (*stop == '\n' || is_blank(*stop)) && std::isfinite(value))
    return stop;
  return parse_unusual_real(text, value);
}

/// Fault of the rest of a line in place of a number, in the words of TextFault.
std::string fault_of_real(std::string_view rest);

/// Reads a whole number as above.
const char* parse_unusual_integer(const char* text, const char* end, double& value);
inline const char* parse_integer(const char* text, const char* end, double& value) {
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text, end, number);
  value = static_cast<double>(number);
  if (error == std::errc() && (*stop == '\n' || is_blank(*stop))) return stop;
  return parse_unusual_integer(text, end, value);
}

/// Reads a real of whole value from 0 to 2⁵³, "1.000e+00", as above.
const char* parse_whole_real(const char* text, const char* end, std::uint64_t& number);

/// Reads a number whose imaginary part stands behind it and has to be 0.
const char* parse_real_complex(const char* text, const char* end, double& value);

inline const char* MatrixMarketEntries::parse_index(const char* text, std::uint64_t limit,
                                                    GlobalIndex& index) const {
  constexpr std::size_t most_digits = 18;
  const char* const begin = text;
  std::uint64_t number = 0;
  for (unsigned digit; (digit = static_cast<unsigned>(*text) - unsigned{'0'}) <= 9; ++text)
    number = 10 * number + digit;
  index = static_cast<GlobalIndex>(number - base_);
  // No digit is as wrong as too many.
  const bool has_digits = static_cast<std::size_t>(text - begin) - 1 < most_digits;
  return number - base_ < limit && has_digits ? text : nullptr;
}

inline const char* MatrixMarketEntries::parse_place(const char* text, MatrixEntry& entry) const {
  text = parse_index(text, row_limit_, entry.row);
  if (!text || !is_blank(*text)) return nullptr;
  text = parse_index(skip_blanks(text), column_limit_, entry.column);
  if (!text || (*text != '\n' && !is_blank(*text))) return nullptr;
  return skip_blanks(text);
}

inline const char* MatrixMarketEntries::parse_value(const char* text, const char* end,
                                                    double& value) const {
  switch (header_.field) {
    case MatrixMarketHeader::Field::real:
      return parse_real(text, end, value);
    case MatrixMarketHeader::Field::integer:
      return parse_integer(text, end, value);
    case MatrixMarketHeader::Field::complex:
      return parse_real_complex(text, end, value);
    default:
      return text;
  }
}

inline const char* MatrixMarketEntries::parse_rest(const char* text, const char* end,
                                                   MatrixEntry& entry) const {
  text = parse_value(text, end, entry.value);
  if (!text) return nullptr;
  text = skip_blanks(text);
  const bool is_wrong = header_.symmetry == MatrixMarketHeader::Symmetry::skew_symmetric &&
                        entry.row == entry.column && entry.value != 0;
  return *text == '\n' && !is_wrong ? text : nullptr;
}

template <class Take>
std::int64_t MatrixMarketEntries::parse(std::string_view block, Values values, Take&& take) const {
  const char* text = block.data();
  const char* const end = text + block.size();
  std::int64_t count = 0;
  for (; text != end; ++text) {
    text = skip_blanks(text);
    if (*text != '\n' && *text != '%') {
      MatrixEntry entry;
      text = header_.words_of_reals == 0 ? parse_place(text, entry)
                                         : parse_real_place(text, end, entry);
      if (text && values == Values::parse) text = parse_rest(text, end, entry);
      if (!text) return -1;
      take(entry);
      ++count;
    }
    if (*text != '\n')
      text =
          static_cast<const char*>(std::memchr(text, '\n', static_cast<std::size_t>(end - text)));
  }
  return count;
}

template <class Take>
std::int64_t MatrixMarketEntries::parse_array(std::string_view block, std::int64_t& next,
                                              Take&& take) const {
  const MatrixMarketArray array(header_);
  std::int64_t count = 0;
  auto [row, column] = array.place_of(next);
  while (!block.empty()) {
    const std::string_view line = take_lines(block, 0);
    if (!is_data_line(line)) continue;
    if (next >= header_.entry_count) return -1;
    MatrixEntry entry{row, column, 0.0};
    if (!parse_rest(skip_blanks(line.data()), line.data() + line.size(), entry)) return -1;
    take(entry);
    ++count;
    ++next;
    if (++row == header_.row_count) std::tie(row, column) = array.place_of(next);
  }
  return count;
}

template <class Take>
std::int64_t MatrixMarketEntries::parse_rows(std::string_view block, std::int64_t& next,
                                             Take&& take) const {
  std::int64_t count = 0;
  while (!block.empty()) {
    const std::string_view line = take_lines(block, 0);
    if (!is_data_line(line)) continue;
    if (next >= header_.entry_count) return -1;
    const char* text = line.data();
    const char* const end = text + line.size();
    const GlobalIndex first = next * header_.numbers_a_line;
    const std::int64_t count_of_line = numbers_of_line(next);
    for (std::int64_t i = 0; i < count_of_line; ++i) {
      MatrixEntry entry =
          header_.numbers_a_line > 0 ? MatrixEntry{first + i, 0, 0.0} : MatrixEntry{next, i, 0.0};
      text = parse_value(skip_blanks(text), end, entry.value);
      if (!text) return -1;
      take(entry);
    }
    if (*skip_blanks(text) != '\n') return -1;
    ++count;
    ++next;
  }
  return count;
}

}  // namespace weft::spmv
