#pragma once

#include <functional>
#include <string>

#include "comm_thread/mpi/communicator.h"
#include "library/include/weft/weft.hpp"

namespace weft::library {

/// Runs `parse`, which makes something of `word` and `options` on this rank alone. Throws what it
/// throws on one rank on all of them, and comm_thread::InputError on all where ranks were given
/// other words or options: `what` they are of. Collective.
void collective_agree_on(const comm_thread::Communicator& communicator, const std::string& what,
                         const std::string& word, const Options& options,
                         const std::function<void()>& parse);

}  // namespace weft::library
