#include "tools/job/input_agreement.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "tools/job/job_report.h"

namespace weft::tools {

namespace {

/// What this rank was asked for and rank 0 was not, in a line; empty where both are the same.
/// Collective.
std::string collective_difference(const comm_thread::Communicator& world) {
  std::string command = command_in_effect();
  std::string of_root = options_in_effect().dump();
  world.broadcast(command, 0);
  world.broadcast(of_root, 0);
  const auto fault = [&](const std::string& mine, const std::string& theirs) {
    return fmt::format(
        "rank {}: found {}, and {} on rank 0; expected the same command and options on all ranks",
        world.rank(), mine, theirs);
  };
  const auto named = [](const std::string& word) { return word.empty() ? "no command" : word; };
  if (command != command_in_effect()) return fault(named(command_in_effect()), named(command));
  const Json& mine = options_in_effect();
  const Json theirs = Json::parse(of_root);
  const auto word = [](const Json& options, const std::string& name) {
    return options.contains(name) ? fmt::format("{} {}", name, options[name]) : "no " + name;
  };
  for (const Json* const options : {&mine, &theirs})
    for (const auto& [name, value] : options->items())
      if (!mine.contains(name) || !theirs.contains(name) || mine[name] != theirs[name])
        return fault(word(mine, name), word(theirs, name));
  return {};
}

}  // namespace

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
    comm_thread::collective_agree_on_error(world, collective_difference(world));
  } catch (const comm_thread::InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace weft::tools
