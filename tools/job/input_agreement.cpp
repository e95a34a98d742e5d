#include "tools/job/input_agreement.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"

namespace weft::tools {

std::string collective_agreed_fault(const std::string& fault) {
  static bool is_agreed = false;
  if (std::exchange(is_agreed, true)) return fault;
  const auto world = comm_thread::Communicator::collective_world();
  const std::int64_t faults = world.sum(std::int64_t{!fault.empty()});
  const bool is_everywhere = faults == world.size();
  try {
    comm_thread::collective_agree_on_error(
        world,
        fault.empty() || is_everywhere ? fault : fmt::format("rank {}: {}", world.rank(), fault));
  } catch (const comm_thread::InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace weft::tools
