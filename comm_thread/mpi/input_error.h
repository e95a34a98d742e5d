#pragma once

#include <cstdint>
#include <stdexcept>

namespace weft::comm_thread {

/// Error in the user's input; `what()` is the one line to show (file, line, expected).
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that this rank cannot open; others may see another one, or none. The line names the rank
/// and its host where not all ranks fail so.
class FileAccessError : public InputError {
 public:
  using InputError::InputError;
};

/// Throws InputError, which names `what`, where `found` is less than `least`.
void expect_at_least(const char* what, std::int64_t found, std::int64_t least);

}  // namespace weft::comm_thread
