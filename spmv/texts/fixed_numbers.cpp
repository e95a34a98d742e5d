#include "spmv/texts/fixed_numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "comm_thread/mpi/input_error.h"
#include "spmv/files/matrix_market_entries.h"
#include "spmv/files/matrix_market_header.h"
#include "spmv/files/text_fault.h"

namespace weft::spmv {
namespace {

using comm_thread::InputError;

constexpr std::string_view blanks = " \t\r\n";

/// What stands in the columns of a field, without the blanks around it.
std::string_view word_in(std::string_view line, const FortranFormat::Field& field) {
  const auto begin = static_cast<std::size_t>(field.begin);
  std::string_view word =
      begin < line.size() ? line.substr(begin, static_cast<std::size_t>(field.width)) : "";
  word.remove_prefix(std::min(word.find_first_not_of(blanks), word.size()));
  return word.substr(0, word.find_last_not_of(blanks) + 1);
}

}  // namespace

TextSource open_text(const std::string& path) {
  try {
    return TextSource(path);
  } catch (const TextAccessFault& fault) {
    throw comm_thread::FileAccessError(path + ": " + fault.what());
  } catch (const TextFault& fault) {
    throw InputError(path + ": " + fault.what());
  }
}

FixedNumbers::FixedNumbers(const std::string& path, const NumberSection& section)
    : path_(path), section_(section), source_(open_text(path)) {}

void FixedNumbers::fail(std::int64_t number, const std::string& fault) const {
  throw InputError(
      fault_at(path_, section_.first_line + number / section_.numbers_per_line(), fault));
}

void FixedNumbers::start(std::int64_t number) {
  const std::int64_t per_line = section_.numbers_per_line();
  const std::int64_t line = number / per_line;
  const std::int64_t mark = line / NumberSection::lines_per_mark;
  next_ = number;
  field_ = section_.format.fields.size();
  block_ = {};
  if (number >= section_.count) return;  // there is nothing to read
  lines_.emplace(source_,
                 TextRange{section_.marks[static_cast<std::size_t>(mark)], TextRange::to_the_end});
  for (std::int64_t passed = mark * NumberSection::lines_per_mark; passed <= line; ++passed) {
    next_ = passed * per_line;
    next_line();
  }
  for (; next_ < number; ++next_, ++field_) next_word();
}

void FixedNumbers::next_line() {
  try {
    if (block_.empty()) block_ = lines_->next();
    if (block_.empty()) fail(next_, "the file changed while it was read; expected it to stay");
  } catch (const TextFault& fault) {
    fail(next_, fault.what());
  }
  line_ = take_lines(block_, 0);
  line_ = line_.substr(0, line_.find_last_not_of(blanks) + 1);
  const std::int64_t per_line = section_.numbers_per_line();
  const std::int64_t left = section_.count - next_ / per_line * per_line;
  const auto count = static_cast<std::size_t>(std::min(per_line, left));
  is_by_words_ = !has_columns(count) && words_of(line_).size() == count;
  field_ = 0;
}

bool FixedNumbers::has_columns(std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view word = word_in(line_, section_.format.fields[i]);
    if (word.empty() || word.find_first_of(blanks) != std::string_view::npos) return false;
  }
  return true;
}

std::string_view FixedNumbers::next_word() {
  if (field_ == section_.format.fields.size()) next_line();
  if (is_by_words_) {
    line_.remove_prefix(line_.find_first_not_of(blanks));
    const std::string_view word = line_.substr(0, line_.find_first_of(blanks));
    line_.remove_prefix(word.size());
    return word;
  }
  const FortranFormat::Field& field = section_.format.fields[field_];
  const std::string_view word = word_in(line_, field);
  if (word.empty())
    fail(next_, "found nothing in columns " + std::to_string(field.begin + 1) + " to " +
                    std::to_string(field.begin + field.width) + "; expected number " +
                    std::to_string(field_ + 1) + " of the format " +
                    in_quotes(section_.format.text));
  return word;
}

void FixedNumbers::read(std::span<std::int64_t> numbers) {
  for (std::int64_t& number : numbers) {
    const std::string_view word = next_word();
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, number);
    if (error != std::errc() || stop != end)
      fail(next_, "found " + in_quotes(word) + " in the format " + in_quotes(section_.format.text) +
                      "; expected a whole number");
    ++field_;
    ++next_;
  }
}

double FixedNumbers::real_in(std::string_view word, const FortranFormat::Field& field) {
  double value = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) {
    const std::string line = std::string(word) + '\n';
    const char* const behind = parse_unusual_real(line.data(), value);
    if (!behind || *behind != '\n')
      fail(next_, "found " + in_quotes(word) + " in the format " + in_quotes(section_.format.text) +
                      "; expected a finite number");
  }
  if (value == 0 || field.is_integer) return value;
  const auto fail_of_reading = [&](const char* what) {
    fail(next_, "found " + in_quotes(word) + " without " + what + " in the format " +
                    in_quotes(section_.format.text) +
                    ", which Fortran reads as another number than C; expected one with " + what);
  };
  if (field.digits > 0 && word.find('.') == std::string_view::npos)
    fail_of_reading("a decimal point");
  if (section_.format.is_scaled && word.find_first_of("eEdD") == std::string_view::npos &&
      word.find_last_of("+-") + 1 <= 1)
    fail_of_reading("an exponent");
  return value;
}

void FixedNumbers::read(std::span<double> numbers) {
  for (double& number : numbers) {
    const std::string_view word = next_word();
    number = real_in(word, section_.format.fields[field_]);
    ++field_;
    ++next_;
  }
}

}  // namespace weft::spmv
