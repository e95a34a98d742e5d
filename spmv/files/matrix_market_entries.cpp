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
  return "found " + quoted(word_at(text)) + " at the end of the line; expected nothing more";
}

}  // namespace

const char* parse_unusual_real(const char* text, double& value) {
  const std::string_view word = word_at(text);
  std::string plain(word.starts_with('+') ? word.substr(1) : word);
  std::replace_if(plain.begin(), plain.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');
  const char* const end = plain.data() + plain.size();
  const auto [stop, error] = std::from_chars(plain.data(), end, value);
  if (plain.empty() || stop != end || error == std::errc::invalid_argument) return nullptr;
  if (word[0] == '+' && plain[0] == '-') return nullptr;
  // Too large is an error, too small is zero; from_chars does not distinguish the two.
  if (error == std::errc::result_out_of_range) value = std::strtod(plain.c_str(), nullptr);
  return std::isfinite(value) ? text + word.size() : nullptr;
}

std::string fault_of_real(std::string_view rest) {
  const char* const text = skip_blanks(rest.data());
  const std::string_view word = word_at(text);
  if (word.empty()) return "the line ends before the value; expected a number";
  double value = 0.0;
  const char* stop = parse_real(text, rest.data() + rest.size(), value);
  if (!stop) return "found " + quoted(word) + "; expected a finite number";
  stop = skip_blanks(stop);
  return *stop == '\n' ? "" : rest_fault(stop);
}

std::string MatrixMarketEntries::fault_of(std::string_view line) const {
  const char* const end = line.data() + line.size();
  if (parse(line, Values::parse, [](const MatrixEntry&) {}) >= 0) return "";

  MatrixEntry entry;
  const char* text = skip_blanks(line.data());
  for (const char* name : {"row", "column"}) {
    const std::string_view word = word_at(text);
    if (word.empty())
      return std::string("the line ends before the ") + name + "; expected " +
             (header_.field == Field::pattern ? "\"ROW COLUMN\"" : "\"ROW COLUMN VALUE\"");
    const char* stop = parse_index(text, name[0] == 'r' ? entry.row : entry.column);
    if (stop != text + word.size())
      return "found " + quoted(word) + " as " + name + "; expected a whole number from 1 to " +
             std::to_string(header_.row_count);
    text = skip_blanks(stop);
  }
  if (!parse_place(skip_blanks(line.data()), entry))
    return "found an entry on the diagonal; expected none in a skew-symmetric matrix";
  if (header_.field == Field::real)
    return fault_of_real(line.substr(static_cast<std::size_t>(text - line.data())));
  const char* const stop = parse_value(text, end, entry.value);
  if (word_at(text).empty()) return "the line ends before the value; expected a whole number";
  if (!stop || (stop != text && *stop != '\n' && !is_blank(*stop)))
    return "found " + quoted(word_at(text)) + "; expected a whole number";
  return rest_fault(skip_blanks(stop));
}

}  // namespace weft::spmv
