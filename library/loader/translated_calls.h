#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace weft::loader {

/// Sets the functions of MPI to those of an opened library: directly, or through functions that
/// turn handles, constants and statuses of the common interface into the library's.
///
/// `library`: of dlopen, and stays open. Returns the name of a function or variable that it lacks;
/// then nothing has changed. Empty where all are there.
std::string use_common_calls(void* library);
std::string use_mpich_calls(void* library);
std::string use_open_mpi_calls(void* library);

/// A communicator of the library as mpi4py hands it out: a number, or the address of a structure.
MPI_Comm communicator_of_mpich(std::uintptr_t handle);
MPI_Comm communicator_of_open_mpi(std::uintptr_t handle);

}  // namespace weft::loader
