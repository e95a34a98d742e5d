#include "comm_thread/mpi/error_agreement.h"

#include "comm_thread/mpi/input_error.h"

namespace weft::comm_thread {

void collective_agree_on_error(const Communicator& communicator, const std::string& message) {
  const std::int64_t mine = message.empty() ? communicator.size() : communicator.rank();
  const std::int64_t first = communicator.min(mine);
  if (first == communicator.size()) return;
  std::string agreed = message;
  communicator.broadcast(agreed, static_cast<int>(first));
  throw InputError(agreed);
}

void collective_attempt(const Communicator& communicator, const std::function<void()>& work) {
  std::string message;
  try {
    work();
  } catch (const InputError& error) {
    message = error.what();
  }
  collective_agree_on_error(communicator, message);
}

}  // namespace weft::comm_thread
