#pragma once

#include <stdexcept>

namespace weft::comm_thread {

/// Error in the user's input; `what()` is the one line to show (file, line, expected).
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace weft::comm_thread
