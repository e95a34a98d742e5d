#pragma once

#include <string>
#include <vector>

namespace weft::comm_thread {

/// An MPI library that is loaded into this process.
struct LoadedLibrary {
  std::string version;  ///< first line of its own description
  std::string file;

  /// "'MPICH Version: 4.0.2' (/usr/lib/libmpich.so.12)".
  std::string text() const;
};

/// The library that weft calls.
LoadedLibrary library_in_use();

/// Why weft cannot call the library that is loaded: the handles of its communicators are none of
/// those that weft was compiled for. Empty where it can. Calls nothing that takes a handle.
std::string fault_of_handles();

/// Other libraries of this process that run, started by other parts of the program. The same
/// version in another file is another library.
std::vector<LoadedLibrary> other_libraries_at_work();

/// Names weft's library and another; empty where no other one is at work.
std::string fault_of_other_libraries();

}  // namespace weft::comm_thread
