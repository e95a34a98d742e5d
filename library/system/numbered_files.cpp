#include "library/system/numbered_files.h"

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
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

/// Numbers are sought in the folder whose files or folders the pattern numbers.
void NumberedFiles::expect_no_gap(int first) const {
  namespace fs = std::filesystem;
  const std::size_t name = before_.rfind('/') + 1;  // 0 where there is none
  const std::string prefix = before_.substr(name);
  const fs::path folder = name == 0 ? "." : before_.substr(0, name);
  std::set<int> numbers;
  std::error_code ignored;
  for (fs::directory_iterator file(folder, ignored), end; file != end; file.increment(ignored)) {
    const std::string found = file->path().filename();
    int number = 0;
    if (!found.starts_with(prefix)) continue;
    std::from_chars(found.data() + prefix.size(), found.data() + found.size(), number);
    if (number > first && fs::exists(path(number), ignored)) numbers.insert(number);
  }
  int expected = first + 1;
  for (const int number : numbers)
    if (number != expected++)
      throw InputError(fmt::format("{}: found {} without it; expected numbers without a gap",
                                   path(expected - 1), path(number)));
}

int NumberedFiles::collective_first(const comm_thread::Communicator& ranks) const {
  for (const int number : {0, 1}) {
    if (!collective_exists(ranks, number)) continue;
    comm_thread::collective_attempt(ranks, [&] {
      if (ranks.is_root()) expect_no_gap(number);
    });
    return number;
  }
  throw InputError(fmt::format("{}, {}: found neither file; expected the first of a sequence",
                               path(0), path(1)));
}

}  // namespace weft::library
