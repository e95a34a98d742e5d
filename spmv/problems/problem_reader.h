#pragma once

#include <charconv>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "spmv/rows/index.h"

namespace weft::spmv {

/// Reads numbers from the PROBLEM word of the command line; throws comm_thread::InputError that
/// quotes the word if it is wrong.
class ProblemReader {
 public:
  /// Lifetime: `word` outlives the reader.
  explicit ProblemReader(std::string_view word) : word_(word) {}

  [[noreturn]] void fail(const std::string& complaint) const;

  template <class Number>
  Number number(std::string_view text, const std::string& expected) const {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = end == text.data() + text.size();
    if (error == std::errc::result_out_of_range && whole)
      fail("found " + std::string(text) + ", which does not fit into 64 bits; expected " +
           expected);
    if (error != std::errc{} || !whole)
      fail("found '" + std::string(text) + "'; expected " + expected);
    return value;
  }

  /// A whole number of at least 1.
  GlobalIndex positive(std::string_view text, const std::string& what) const;
  /// A whole number, low … high.
  int whole(std::string_view text, const std::string& what, int low, int high) const;
  /// A finite number above 0.
  double weight(std::string_view text) const;
  double finite(std::string_view text, const std::string& what) const;

  /// `parts`: each KEY=VALUE, no key twice; `known`: the valid keys, for messages.
  std::vector<std::pair<std::string_view, std::string_view>> keys_and_values(
      std::span<const std::string_view> parts, const std::string& known) const;

  /// `nonzeros_per_row`: at most so many; their number must fit as well as the rows', of which
  /// there are as many as the product of `factors`.
  void check_total(std::initializer_list<GlobalIndex> factors, GlobalIndex nonzeros_per_row) const;

 private:
  std::string_view word_;
};

/// The parts of `text` between the separators; one more than there are separators.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The shortest text that reads back as `value`.
std::string text_of(double value);

}  // namespace weft::spmv
