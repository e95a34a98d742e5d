#pragma once

#include <cstdint>
#include <stdexcept>

namespace weft::comm_thread {

/// Error in the user's input; `what()` is the one line to show (file, line, expected).
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws InputError, which names `what`, where `found` is less than `least`.
void expect_at_least(const char* what, std::int64_t found, std::int64_t least);

}  // namespace weft::comm_thread
