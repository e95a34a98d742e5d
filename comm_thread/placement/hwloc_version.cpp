#include "comm_thread/placement/hwloc_version.h"

#include <hwloc.h>

namespace weft::comm_thread {

std::string hwloc_version() {
  // 0xMMmmpp of the interface, which follows the releases up to the patch.
  const unsigned version = hwloc_get_api_version();
  return std::to_string(version >> 16) + "." + std::to_string((version >> 8) & 0xff) + "." +
         std::to_string(version & 0xff);
}

}  // namespace weft::comm_thread
