#include "spmv/texts/fortran_format.h"

#include <algorithm>

#include "spmv/files/text_fault.h"

namespace weft::spmv {
namespace {

constexpr int widest_line = 4096;
constexpr int widest_number = 100;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads one format from left to right.
class FormatReader {
 public:
  FormatReader(std::string_view text, FortranFormat& format) : text_(text), format_(format) {}

  void read() {
    expect('(');
    read_list(1);
    if (at_ != text_.size() || format_.fields.empty()) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw TextFault("found the format " + in_quotes(text_) +
                    "; expected a Fortran format of numbers, such as (13I6), (1P,5D16.8) or "
                    "(4(E20.12))");
  }

  char next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == ',')) ++at_;
    return at_ < text_.size() ? text_[at_] : ')';
  }
  void expect(char wanted) {
    if (at_ >= text_.size() || next() != wanted || at_ >= text_.size()) fail();
    ++at_;
  }
  /// A number of at least 1, or `missing` where there is none.
  int number(int missing) {
    if (!is_digit(next())) return missing;
    int value = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_)
      if ((value = 10 * value + (text_[at_] - '0')) > widest_line) fail();
    return value;
  }
  char letter() {
    const char c = next();
    if (at_ >= text_.size()) fail();
    ++at_;
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }

  /// The rest of a list in parentheses, behind the first of them.
  void read_list(int depth) {
    constexpr int deepest = 4;
    if (depth > deepest) fail();
    for (bool has_group = false; next() != ')';) {
      if (has_group) fail();  // only its last part would be repeated in the next line
      if (next() == '-' || next() == '+') ++at_;  // of a scale factor
      const std::size_t begin = at_;
      const int count = number(1);
      const bool has_count = at_ > begin;
      if (next() == '(') {
        has_group = true;
        if (column_ > 0 || count < 1) fail();
        read_group(count, depth);
        continue;
      }
      const char kind = letter();
      if (kind == 'P' && has_count)
        format_.is_scaled = format_.is_scaled || count != 0;
      else if (kind == 'X')
        move(count);
      else
        add_numbers(kind, count);
    }
    expect(')');
  }

  void read_group(int count, int depth) {
    const std::size_t first = format_.fields.size();
    ++at_;
    read_list(depth + 1);
    const std::size_t last = format_.fields.size();
    const int width = column_;
    if (first == last) fail();
    for (int copy = 1; copy < count; ++copy) {
      for (std::size_t i = first; i < last; ++i) {
        FortranFormat::Field field = format_.fields[i];
        field.begin += copy * width;
        format_.fields.push_back(field);
      }
      move(width);
    }
  }

  void add_numbers(char kind, int count) {
    if (kind != 'I' && kind != 'E' && kind != 'D' && kind != 'F' && kind != 'G') fail();
    if (kind == 'E' && (next() == 'S' || next() == 'N' || next() == 's' || next() == 'n')) ++at_;
    FortranFormat::Field field{.begin = 0, .width = number(0), .is_integer = kind == 'I'};
    if (next() == '.') {
      ++at_;
      const int digits = number(-1);
      if (digits < 0) fail();
      field.digits = field.is_integer ? 0 : digits;
    }
    if (kind != 'I' && (next() == 'E' || next() == 'e')) {  // digits of the exponent
      ++at_;
      if (number(0) == 0) fail();
    }
    if (field.width < 1 || field.width > widest_number || count < 1) fail();
    for (int i = 0; i < count; ++i) {
      field.begin = column_;
      move(field.width);
      format_.fields.push_back(field);
    }
  }

  void move(int columns) {
    column_ += columns;
    if (column_ > widest_line) fail();
  }

  std::string_view text_;
  FortranFormat& format_;
  std::size_t at_ = 0;
  int column_ = 0;
};

}  // namespace

FortranFormat FortranFormat::parse(std::string_view text) {
  FortranFormat format{.text = std::string(text), .fields = {}};
  FormatReader(text, format).read();
  return format;
}

std::vector<std::string_view> formats_of(std::string_view line) {
  std::vector<std::string_view> formats;
  for (std::size_t begin = line.find('('); begin != std::string_view::npos;) {
    std::size_t end = begin;
    int depth = 0;
    do {
      if (end == line.size())
        throw TextFault("found the format " +
                        in_quotes(line.substr(begin, line.find_last_not_of(" \r\n") + 1 - begin)) +
                        "; expected a closing parenthesis");
      depth += line[end] == '(' ? 1 : line[end] == ')' ? -1 : 0;
      ++end;
    } while (depth > 0);
    formats.push_back(line.substr(begin, end - begin));
    begin = line.find('(', end);
  }
  return formats;
}

}  // namespace weft::spmv
