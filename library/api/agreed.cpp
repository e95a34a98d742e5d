#include "library/api/agreed.h"

#include <cstdint>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/checkpoint/system_checksum.h"

namespace weft::library {

void collective_agree_on(const comm_thread::Communicator& communicator, const std::string& what,
                         const std::string& word, const Options& options,
                         const std::function<void()>& parse) {
  comm_thread::collective_attempt(communicator, parse);
  std::string text = word;
  for (const auto& [name, value] : options.all()) text += fmt::format("\n{}\n{}", name, value);
  const auto sum = static_cast<std::int64_t>(solver::text_checksum(text));
  if (communicator.min(sum) != communicator.max(sum))
    throw comm_thread::InputError(
        what + ": found other words or options on some ranks; expected the same on all");
}

}  // namespace weft::library
