#include "comm_thread/mpi/error_agreement.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>

#include "comm_thread/mpi/input_error.h"

namespace weft::comm_thread {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// As collective_agree_on_error. `is_access`: the error is a FileAccessError.
void collective_agree(const Communicator& communicator, const std::string& message,
                      bool is_access) {
  const std::int64_t mine = message.empty() ? communicator.size() : communicator.rank();
  const std::int64_t first = communicator.min(mine);
  if (first == communicator.size()) return;
  const std::int64_t lacking = communicator.sum(std::int64_t{is_access});
  std::string agreed = message;
  if (is_access && lacking < communicator.size())
    agreed = "rank " + std::to_string(communicator.rank()) + " on " + host_name() + ": " + message +
             ", on every rank";
  communicator.broadcast(agreed, static_cast<int>(first));
  throw InputError(agreed);
}

}  // namespace

void collective_agree_on_error(const Communicator& communicator, const std::string& message) {
  collective_agree(communicator, message, false);
}

void collective_attempt(const Communicator& communicator, const std::function<void()>& work) {
  std::string message;
  bool is_access = false;
  try {
    work();
  } catch (const FileAccessError& error) {
    message = error.what();
    is_access = true;
  } catch (const InputError& error) {
    message = error.what();
  }
  collective_agree(communicator, message, is_access);
}

}  // namespace weft::comm_thread
