#include "library/system/numbered_files.h"

#include <cstdint>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"

namespace weft::library {

using comm_thread::InputError;

NumberedFiles::NumberedFiles(const std::string& pattern) {
  const std::string digits = "0123456789";
  const std::size_t begin = pattern.find('%');
  const std::size_t end =
      begin == std::string::npos ? begin : pattern.find_first_not_of(digits, begin + 1);
  const bool is_one = end != std::string::npos && pattern[end] == 'd' && end - begin <= 3 &&
                      pattern.find('%', end) == std::string::npos;
  if (!is_one)
    throw InputError(fmt::format(
        "found '{}'; expected a name with one %d or %03d, where the number is", pattern));
  if (end > begin + 1) width_ = std::stoi(pattern.substr(begin + 1, end - begin - 1));
  before_ = pattern.substr(0, begin);
  after_ = pattern.substr(end + 1);
}

std::string NumberedFiles::path(int number) const {
  return fmt::format("{}{:0{}}{}", before_, number, width_, after_);
}

bool NumberedFiles::collective_exists(const comm_thread::Communicator& ranks, int number) const {
  std::error_code ignored;
  return ranks.min(std::int64_t{std::filesystem::exists(path(number), ignored) ? 1 : 0}) == 1;
}

int NumberedFiles::collective_first(const comm_thread::Communicator& ranks) const {
  for (const int number : {0, 1})
    if (collective_exists(ranks, number)) return number;
  throw InputError(fmt::format("{}, {}: found neither file; expected the first of a sequence",
                               path(0), path(1)));
}

}  // namespace weft::library
