#pragma once

#include <cstdint>
#include <string>

#include "library/loader/library_choice.h"

struct MPI_ABI_Comm;

namespace weft::loader {

/// Which handles a library has.
enum class Interface { none, mpich, open_mpi, common };

/// "none", "mpich", "openmpi" or "mpiabi", as in WEFT_MPI.
std::string name(Interface interface);

/// The MPI library that the functions of MPI call from now on.
struct OpenedLibrary {
  Interface interface = Interface::none;
  std::string file;  ///< empty without a library
  std::string reason;  ///< why this one: "found PMI_SIZE=2 of a launcher of several processes"
};

/// Opens the library that `surroundings` choose, where none has been opened; else the one that has.
///
/// The library's names stay unknown to others (RTLD_LOCAL). MPI is not started.
/// Thread: one, before any calls MPI.
/// Throws std::invalid_argument for a choice that is none, std::runtime_error where no library can
/// be opened that is needed, or where it is none that weft knows.
const OpenedLibrary& open_library(const Surroundings& surroundings);

/// Surroundings of this process: its variables and its launcher.
Surroundings surroundings_of_process();

/// A communicator of the opened library, as mpi4py hands it out: a number, or the address of a
/// structure. Throws std::runtime_error without a library.
MPI_ABI_Comm* communicator_from(std::uintptr_t handle);

}  // namespace weft::loader
