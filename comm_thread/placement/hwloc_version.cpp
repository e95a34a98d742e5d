#include "comm_thread/placement/hwloc_version.h"

#include <hwloc.h>

namespace weft::comm_thread {

std::string hwloc_version() {
  // The interface has a version of its own, which releases do not always raise.
  return HWLOC_VERSION;
}

}  // namespace weft::comm_thread
