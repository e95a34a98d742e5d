#include "library/settings/word_number.h"

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"

namespace weft::library {

std::int64_t whole_number(const std::string& item, std::string_view digits, std::int64_t least,
                          std::int64_t most) {
  const auto number = comm_thread::number_in<std::int64_t>(digits);
  if (!number || *number < least || *number > most)
    throw comm_thread::InputError(
        fmt::format("found '{}'; expected a whole number from {} to {}", item, least, most));
  return *number;
}

double share(const std::string& item, std::string_view digits) {
  const auto number = comm_thread::number_in<double>(digits);
  if (!number || !(*number >= 0 && *number <= 1))
    throw comm_thread::InputError("found '" + item + "'; expected a number from 0 to 1");
  return *number;
}

}  // namespace weft::library
