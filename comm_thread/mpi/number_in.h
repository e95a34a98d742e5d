#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace weft::comm_thread {

/// The number that is all of `text`; none where it is no such number or too large for the type.
/// Thread: any.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace weft::comm_thread
