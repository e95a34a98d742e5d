#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weft::spmv {

/// Fault in a text; `what()` says "found X; expected Y", without the place, which only the caller
/// knows.
class TextFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The file of a text cannot be opened.
class TextAccessFault : public TextFault {
 public:
  using TextFault::TextFault;
};

/// Message "FILE:LINE: found X; expected Y". `line`: from 1.
inline std::string fault_at(const std::string& path, std::int64_t line, const std::string& fault) {
  return path + ":" + std::to_string(line) + ": " + fault;
}

/// `text` in quotes for a message: at most 40 characters, none that a terminal would act on.
inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string shown;
  for (const char c : text.substr(0, most)) shown += c >= ' ' && c <= '~' ? c : '?';
  return '"' + shown + (text.size() > most ? "…\"" : "\"");
}

}  // namespace weft::spmv
