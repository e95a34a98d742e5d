#include "comm_thread/termination/detector_kind.h"

#include <array>

#include "comm_thread/mpi/input_error.h"

namespace weft::comm_thread {
namespace {

constexpr std::array<std::string_view, 4> names{"flags", "residual", "all-reduce", "snapshot"};

}  // namespace

DetectorKind detector_kind(std::string_view text) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (text == names[i]) return static_cast<DetectorKind>(i);
  throw InputError("'" + std::string(text) +
                   "' is no detector; expected flags, residual, all-reduce or snapshot");
}

std::string name(DetectorKind kind) { return std::string(names[static_cast<std::size_t>(kind)]); }

}  // namespace weft::comm_thread
