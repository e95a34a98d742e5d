#pragma once

#include <petscsys.h>

#include <string>
#include <vector>
#include <weft/weft.hpp>

namespace weft::petsc {

/// The job of the ranks of `communicator`: one for all objects of PETSc on the same ranks, until
/// PetscFinalize. The options -weft_threads and -weft_pinning say how it is made. Collective.
Job job_of(MPI_Comm communicator);

/// What a view says of a job, in lines: ranks, threads, who moves the messages.
std::vector<std::string> lines_of(const Job& job);

}  // namespace weft::petsc
