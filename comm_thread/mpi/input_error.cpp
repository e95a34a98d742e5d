#include "comm_thread/mpi/input_error.h"

#include <fmt/format.h>

namespace weft::comm_thread {

void expect_at_least(const char* what, std::int64_t found, std::int64_t least) {
  if (found < least)
    throw InputError(fmt::format("{}: found {}; expected at least {}", what, found, least));
}

}  // namespace weft::comm_thread
