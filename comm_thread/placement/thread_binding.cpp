#include "comm_thread/placement/thread_binding.h"

#include <cstring>
#include <span>
#include <string>
#include <utility>

namespace weft::comm_thread {

std::optional<PlacementFinding> bind_this_thread(const Topology& topology, unsigned pu) {
  if (!topology.is_this_machine())
    return PlacementFinding{FindingSeverity::note,
                            "not the machine this runs on: threads are not pinned"};
  const int error = topology.bind_calling_thread(std::span(&pu, 1));
  if (error == 0) return std::nullopt;
  std::string text = "cannot pin a thread to PU ";
  text += std::to_string(pu);
  text += ": ";
  text += std::strerror(error);
  return PlacementFinding{FindingSeverity::warning, std::move(text)};
}

std::vector<unsigned> binding_of_this_thread(const Topology& topology) {
  return topology.binding_of_calling_thread();
}

std::optional<unsigned> last_cpu_of_this_thread(const Topology& topology) {
  return topology.last_pu_of_calling_thread();
}

std::vector<unsigned> permitted_pus_of_this_process(const Topology& topology) {
  const std::vector<unsigned> allowed = topology.allowed_pus();
  const std::vector<unsigned> before = topology.binding_of_calling_thread();
  if (before.empty() || topology.bind_calling_thread(allowed) != 0)
    return before.empty() ? allowed : before;
  const std::vector<unsigned> permitted = topology.binding_of_calling_thread();
  topology.bind_calling_thread(before);
  return permitted.empty() ? before : permitted;
}

}  // namespace weft::comm_thread
