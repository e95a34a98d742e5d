#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spmv/files/text_lines.h"
#include "spmv/files/text_source.h"
#include "spmv/texts/fortran_format.h"

namespace weft::spmv {

/// Numbers that follow one another in the lines of a text.
struct NumberSection {
  static constexpr std::int64_t lines_per_mark = 1024;

  FortranFormat format{};
  std::int64_t count = 0;
  std::int64_t first_line = 0;  // from 1
  std::vector<std::int64_t> marks{};  // characters before line 0, 1024, 2048, ... of the section

  std::int64_t numbers_per_line() const { return std::ssize(format.fields); }
  std::int64_t line_count() const {
    return count / numbers_per_line() + (count % numbers_per_line() != 0);
  }
};

/// Throws comm_thread::FileAccessError where the file cannot be opened.
TextSource open_text(const std::string& path);

/// Reads the numbers of a section in their order, from any of them on. Numbers need no blanks
/// between them; a number is wrong that others than Fortran would read differently. Where the
/// numbers of a line do not stand in the columns of their format, but as many are there between
/// blanks, these are read: SciPy's hb_write makes numbers narrower than its format.
///
/// Throws comm_thread::InputError: "FILE:LINE: found X; expected Y".
class FixedNumbers {
 public:
  /// `section`: outlives it.
  FixedNumbers(const std::string& path, const NumberSection& section);

  /// Makes `number`, from 0, the next one.
  void start(std::int64_t number);

  /// The next numbers.
  void read(std::span<std::int64_t> numbers);
  void read(std::span<double> numbers);

  /// Throws it about the line of `number`.
  [[noreturn]] void fail(std::int64_t number, const std::string& fault) const;

 private:
  void next_line();
  /// True if the columns of the first `count` fields of the line have a word each.
  bool has_columns(std::size_t count) const;
  /// What stands in the next place, without blanks; `line_` loses it where it is read by words.
  std::string_view next_word();
  double real_in(std::string_view word, const FortranFormat::Field& field);

  std::string path_;
  const NumberSection& section_;
  TextSource source_;
  std::optional<TextLines> lines_;
  std::string_view block_;  // lines to come
  std::string_view line_;
  bool is_by_words_ = false;  // the line
  std::int64_t next_ = 0;  // number
  std::size_t field_ = 0;  // of the line
};

}  // namespace weft::spmv
