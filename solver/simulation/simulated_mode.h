#pragma once

#include <string>
#include <string_view>

namespace weft::solver {

/// When the halo of a product or of a synchronous sweep travels.
enum class SimulatedMode {
  vector,  // before it
  overlap,  // after the interior rows: without a thread for it, nothing travels during them
  task,  // during the interior rows, moved by the communication thread
};

/// Parses `vector`, `overlap` or `task`. Throws comm_thread::InputError.
SimulatedMode simulated_mode(std::string_view text);
/// Inverse of `simulated_mode`.
std::string name(SimulatedMode mode);

}  // namespace weft::solver
