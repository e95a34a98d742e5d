#pragma once

#include <array>
#include <charconv>
#include <string>

namespace weft::spmv {

/// Appends the shortest text that reads back as the same number.
template <class Number>
void append_number(std::string& text, Number number) {
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  text.append(digits.data(), end);
}

}  // namespace weft::spmv
