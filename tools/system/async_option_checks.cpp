#include "tools/system/async_option_checks.h"

#include <fmt/format.h>

#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/termination/detector_kind.h"

namespace weft::tools {

using comm_thread::InputError;

std::string fault_of_channel_transport(const std::string& text) {
  try {
    comm_thread::transport_choice(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string fault_of_detector(const std::string& text) {
  try {
    comm_thread::detector_kind(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::vector<solver::Fault> parse_faults(const std::vector<std::string>& texts) {
  std::vector<solver::Fault> faults;
  for (const std::string& text : texts) faults.push_back(solver::Fault::parse(text));
  return faults;
}

void check_faults(const std::vector<solver::Fault>& faults, int count, const char* who) {
  for (const solver::Fault& fault : faults)
    if (fault.kind != solver::Fault::Kind::jitter && fault.rank >= count)
      throw InputError(fmt::format("--inject: found {} {}; expected one from 0 to {}", who,
                                   fault.rank, count - 1));
}

}  // namespace weft::tools
