#pragma once

#include <cstdlib>

namespace weft::tests {

/// Compute threads a rank that this run of a test is about (WEFT_TEST_THREADS, else 1).
inline int thread_count() {
  const char* text = std::getenv("WEFT_TEST_THREADS");
  return text == nullptr ? 1 : std::atoi(text);
}

}  // namespace weft::tests
