#include "library/options/option_values.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"

namespace weft::library {

using comm_thread::InputError;

double number(const std::string& word, const std::string& item, const NumberRange& range) {
  const auto value = comm_thread::number_in<double>(word);
  if (!value || !range.contains(*value) || (std::isinf(*value) && !range.may_be_infinite))
    throw InputError("found '" + item + "'; expected " + range.expected);
  return *value;
}

std::int64_t whole_number(const std::string& word, const std::string& item, std::int64_t least,
                          std::int64_t most) {
  const auto value = comm_thread::number_in<std::int64_t>(word);
  if (value && *value >= least && *value <= most) return *value;
  throw InputError(
      most < std::int64_t{1} << 60
          ? fmt::format("found '{}'; expected a whole number from {} to {}", item, least, most)
          : fmt::format("found '{}'; expected a whole number, {} or more", item, least));
}

bool truth(const std::string& word) {
  expect_one_of(word, word, {"true", "false", "1", "0"});
  return word == "true" || word == "1";
}

void expect_one_of(const std::string& word, const std::string& item,
                   const std::vector<std::string>& words) {
  if (std::ranges::find(words, word) == words.end())
    throw InputError(fmt::format("found '{}'; expected {}", item, fmt::join(words, ", ")));
}

std::string shown(double number) { return fmt::format("{:g}", number); }

std::string alternatives(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, "|"));
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ","));
}

}  // namespace weft::library
