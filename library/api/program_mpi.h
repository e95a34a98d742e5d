#pragma once

#include "library/include/weft/weft.hpp"

namespace weft::library {

/// The MPI library of a C program, and what the program hands over of it. A weft that is linked
/// with an MPI calls the same one (program_mpi.cpp); one that is linked with none opens that of the
/// program (library/any_mpi/any_mpi_of_program.cpp).
///
/// Opens the library, once. Throws weft::Error.
void open_mpi_of_program();
/// A communicator of the program as one of weft. Throws weft::Error.
MPI_Comm communicator_of_program(MPI_Comm given);

}  // namespace weft::library
