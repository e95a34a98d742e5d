#pragma once

#include <functional>
#include <string>

#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// Throws an InputError with the same message on every rank if any rank has one: that of the lowest
/// such rank. `message`: empty on a rank without an error.
/// Collective.
void collective_agree_on_error(const Communicator& communicator, const std::string& message);

/// Runs `work` on this rank; an InputError that it throws on any rank is thrown on all, with the
/// rank and its host in front where it is a FileAccessError and not of all ranks. `work` must not
/// communicate. Collective.
void collective_attempt(const Communicator& communicator, const std::function<void()>& work);

}  // namespace weft::comm_thread
