#pragma once

#include <string>

namespace weft::comm_thread {

/// The version of hwloc, which finds the cores of a machine: "2.9.0".
std::string hwloc_version();

}  // namespace weft::comm_thread
