#include "spmv/files/matrix_market_entries.h"

#include <algorithm>
#include <cstdlib>

#include "spmv/files/text_fault.h"

namespace weft::spmv {
namespace {

using Field = MatrixMarketHeader::Field;

/// The characters up to the next blank or line end.
std::string_view word_at(const char* text) {
  const char* end = text;
  while (*end != '\n' && !is_blank(*end)) ++end;
  return {text, static_cast<std::size_t>(end - text)};
}

std::string rest_fault(const char* text) {
  return "found " + in_quotes(word_at(text)) + " at the end of the line; expected nothing more";
}

}  // namespace

const char* parse_unusual_real(const char* text, double& value) {
  const std::string_view word = word_at(text);
  std::string plain(word.starts_with('+') ? word.substr(1) : word);
  std::replace_if(plain.begin(), plain.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');
  // "0.5+101" means 0.5e+101.
  const std::size_t sign = plain.find_last_of("+-");
  if (sign != std::string::npos && sign > 0 && plain.find('e') == std::string::npos &&
      (plain[sign - 1] == '.' || (plain[sign - 1] >= '0' && plain[sign - 1] <= '9')))
    plain.insert(sign, 1, 'e');
  const char* const end = plain.data() + plain.size();
  const auto [stop, error] = std::from_chars(plain.data(), end, value);
  if (plain.empty() || stop != end || error == std::errc::invalid_argument) return nullptr;
  if (word[0] == '+' && plain[0] == '-') return nullptr;
  // Too large is an error, too small is zero; from_chars does not distinguish the two.
  if (error == std::errc::result_out_of_range) value = std::strtod(plain.c_str(), nullptr);
  return std::isfinite(value) ? text + word.size() : nullptr;
}

const char* parse_unusual_integer(const char* text, const char* end, double& value) {
  const bool is_negative = *text == '-';
  if (*text == '+') ++text;
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text, end, number);
  value = static_cast<double>(number);
  const bool is_right = !is_negative && error == std::errc() && (*stop == '\n' || is_blank(*stop));
  return is_right ? stop : nullptr;
}

const char* parse_whole_real(const char* text, const char* end, std::uint64_t& number) {
  constexpr double most = 9007199254740992;
  double value = 0.0;
  text = parse_real(text, end, value);
  if (!text || !(value >= 0 && value <= most) || value != std::floor(value)) return nullptr;
  number = static_cast<std::uint64_t>(value);
  return text;
}

const char* MatrixMarketEntries::parse_real_index(const char* text, const char* end,
                                                  std::uint64_t limit, GlobalIndex& index) const {
  std::uint64_t number = 0;
  text = parse_whole_real(text, end, number);
  index = static_cast<GlobalIndex>(number - base_);
  return number - base_ < limit ? text : nullptr;
}

const char* MatrixMarketEntries::parse_real_place(const char* text, const char* end,
                                                  MatrixEntry& entry) const {
  text = parse_real_index(text, end, row_limit_, entry.row);
  if (text) text = parse_real_index(skip_blanks(text), end, column_limit_, entry.column);
  return text ? skip_blanks(text) : nullptr;
}

const char* parse_real_complex(const char* text, const char* end, double& value) {
  text = parse_real(text, end, value);
  double imaginary = 0.0;
  if (text) text = parse_real(skip_blanks(text), end, imaginary);
  return text && imaginary == 0 ? text : nullptr;
}

std::string fault_of_real(std::string_view rest) {
  const char* const text = skip_blanks(rest.data());
  const std::string_view word = word_at(text);
  if (word.empty()) return "the line ends before the value; expected a number";
  double value = 0.0;
  const char* stop = parse_real(text, rest.data() + rest.size(), value);
  if (!stop) return "found " + in_quotes(word) + "; expected a finite number";
  stop = skip_blanks(stop);
  return *stop == '\n' ? "" : rest_fault(stop);
}

std::string MatrixMarketEntries::fault_of_value(const char* text, const char* end) const {
  if (header_.field == Field::real)
    return fault_of_real({text, static_cast<std::size_t>(end - text)});
  if (header_.field == Field::complex) {
    for (const char* part : {"value", "imaginary part"}) {
      text = skip_blanks(text);
      const std::string_view word = word_at(text);
      if (word.empty())
        return std::string("the line ends before the ") + part + "; expected a number";
      double value = 0.0;
      if (!parse_real(text, end, value))
        return "found " + in_quotes(word) + "; expected a finite number";
      if (part[0] == 'i' && value != 0)
        return "found the imaginary part " + std::string(word) +
               "; expected 0, because only real systems are solved";
      text += word.size();
    }
    text = skip_blanks(text);
    return *text == '\n' ? "" : rest_fault(text);
  }
  double value = 0.0;
  const char* const stop = parse_value(text, end, value);
  if (word_at(text).empty()) return "the line ends before the value; expected a whole number";
  if (!stop) return "found " + in_quotes(word_at(text)) + "; expected a whole number";
  return *skip_blanks(stop) == '\n' ? "" : rest_fault(skip_blanks(stop));
}

/// Fault of a line that holds a row of an array.
std::string MatrixMarketEntries::fault_of_row(std::string_view line, std::int64_t number) const {
  const auto found = std::ssize(words_of(line));
  if (const std::int64_t expected = numbers_of_line(number); found != expected)
    return "found " + std::to_string(found) + " words; expected " + std::to_string(expected) +
           (header_.numbers_a_line > 0 ? " numbers, by the first two lines"
                                       : " numbers, as in the first line");
  double value = 0;
  for (const char* text = skip_blanks(line.data()); *text != '\n'; text = skip_blanks(text)) {
    const char* const stop = parse_real(text, line.data() + line.size(), value);
    if (!stop) return "found " + in_quotes(word_at(text)) + "; expected a finite number";
    text = stop;
  }
  return "";
}

std::string MatrixMarketEntries::fault_of(std::string_view line, std::int64_t number) const {
  const char* const end = line.data() + line.size();
  const char* text = skip_blanks(line.data());
  if (header_.has_lines_of_rows) return fault_of_row(line, number);
  if (header_.format == MatrixMarketHeader::Format::array) return fault_of_value(text, end);
  if (parse(line, Values::parse, [](const MatrixEntry&) {}) >= 0) return "";

  MatrixEntry entry;
  for (const char* name : {"row", "column"}) {
    const std::string_view word = word_at(text);
    if (word.empty())
      return std::string("the line ends before the ") + name + "; expected " +
             (header_.field == Field::pattern ? "\"ROW COLUMN\"" : "\"ROW COLUMN VALUE\"");
    const bool is_row = name[0] == 'r';
    const std::uint64_t limit = is_row ? row_limit_ : column_limit_;
    GlobalIndex& index = is_row ? entry.row : entry.column;
    const char* stop = header_.words_of_reals == 0 ? parse_index(text, limit, index)
                                                   : parse_real_index(text, end, limit, index);
    if (stop != text + word.size())
      return "found " + in_quotes(word) + " as " + name + "; expected a whole number" +
             (header_.is_counted
                  ? " from " + std::to_string(header_.base) + " to " +
                        std::to_string((is_row ? header_.row_count : header_.column_count) +
                                       header_.base - 1)
                  : " of at least " + std::to_string(header_.base));
    text = skip_blanks(stop);
  }
  if (header_.field == Field::pattern && *text != '\n') return rest_fault(text);
  if (std::string fault = fault_of_value(text, end); !fault.empty()) return fault;
  return "found " + in_quotes(word_at(text)) +
         " on the diagonal; expected nothing but 0 there in a skew-symmetric matrix";
}

}  // namespace weft::spmv
