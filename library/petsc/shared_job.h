#pragma once

#include <petscsys.h>

#include <string>
#include <vector>
#include <weft/weft.hpp>

#include "library/petsc/node_group.h"

namespace weft::petsc {

/// The job of the ranks of `communicator`: one for all objects of PETSc on the same ranks, until
/// PetscFinalize. The options -weft_threads and -weft_pinning say how it is made. Collective.
Job job_of(MPI_Comm communicator);

/// The same for ranks that hand their rows to some of each node, until PetscFinalize. Collective.
const NodeGroup& group_of(MPI_Comm communicator, int groups_per_node);

/// What -weft_threads and -weft_pinning say; `threads` where nothing is said.
JobOptions options_of_database(int threads = 0);

/// What a view says of a job, in lines: ranks, threads, who moves the messages.
std::vector<std::string> lines_of(const Job& job);

}  // namespace weft::petsc
