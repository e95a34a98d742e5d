#include "solver/simulation/simulated_mode.h"

#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"

namespace weft::solver {
namespace {

constexpr std::array<const char*, 3> mode_names{"vector", "overlap", "task"};

}  // namespace

SimulatedMode simulated_mode(std::string_view text) {
  for (std::size_t i = 0; i < mode_names.size(); ++i)
    if (text == mode_names[i]) return static_cast<SimulatedMode>(i);
  throw comm_thread::InputError(
      fmt::format("mode: found '{}'; expected vector, overlap or task", text));
}

std::string name(SimulatedMode mode) { return mode_names.at(static_cast<std::size_t>(mode)); }

}  // namespace weft::solver
