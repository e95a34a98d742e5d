#pragma once

#include <string>
#include <vector>

#include "comm_thread/channels/openshmem_transport.h"

namespace weft::tests {

/// Every transport that this build has.
inline std::vector<std::string> transport_names() {
  std::vector<std::string> names{
      "two-sided",         "one-sided:flush",         "one-sided:flush-local",
      "one-sided:overlap", "one-sided:overlap-local", "shared"};
  if (comm_thread::has_openshmem()) {
    names.emplace_back("shmem:put");
    names.emplace_back("shmem:put-overlap");
  }
  return names;
}

}  // namespace weft::tests
