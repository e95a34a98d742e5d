#pragma once

#include <functional>
#include <string>

namespace weft::comm_thread {

/// The value of an environment variable; null where it is not set.
using Variable = std::function<const char*(const char* name)>;

/// What a process that is alone in MPI_COMM_WORLD finds wrong, where its launcher has started
/// several: the launcher belongs to another MPI library, and each process would do the whole work.
/// Empty where nothing says so.
///
/// What the launcher of this very library says comes first: a job of one process inside a larger
/// one of another launcher is meant. `library`: as MpiSession::library_version.
std::string fault_of_lone_process(const std::string& library, const Variable& variable);

/// Processes that the launcher of this very library says that it has started; 1 where it says
/// nothing. `library`: as MpiSession::library_version.
long launched_process_count(const std::string& library, const Variable& variable);

/// The fault of this process, and empty too where MPI_COMM_WORLD has several processes. Lifetime:
/// inside an MpiSession.
std::string fault_of_launcher(const Variable& variable);

}  // namespace weft::comm_thread
