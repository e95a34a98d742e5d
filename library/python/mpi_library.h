// Which MPI library the module calls: the one it is linked with (linked_mpi.cpp), or one that it
// opens (loaded_mpi.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>
#include <weft/weft.hpp>

namespace weft::python {

/// Opens the MPI library of this process, once, before any other call of MPI: its interface (mpich,
/// openmpi, mpiabi, none; "linked" for one that is linked), its file, and why it was chosen.
///
/// `file_of_mpi4py`: the library of an mpi4py that has been imported, or empty. `folders`: where to
/// look first. Throws weft::Error.
std::tuple<std::string, std::string, std::string> open_mpi(const std::string& file_of_mpi4py,
                                                           const std::vector<std::string>& folders);

/// A communicator as mpi4py hands it out: a number, or the address of a structure. Throws
/// weft::Error where it can be of none.
MPI_Comm communicator_from(std::uintptr_t handle);

}  // namespace weft::python
