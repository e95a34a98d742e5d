#pragma once

#include <functional>
#include <string>

#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// Throws the same InputError on every rank when any rank has a message, the one of the lowest
/// such rank. `message`: empty where all is well.
/// Collective.
void collective_agree_on_error(const Communicator& communicator, const std::string& message);

/// Runs `work` on this rank and then agrees: an InputError thrown by `work` on one rank is thrown
/// on all. `work` itself must not communicate.
/// Collective.
void collective_attempt(const Communicator& communicator, const std::function<void()>& work);

}  // namespace weft::comm_thread
