#pragma once

#include <string>

#include "comm_thread/mpi/communicator.h"
#include "spmv/rows/index.h"

namespace weft::spmv {

/// The block size that PETSc has written beside a matrix, to PATH.info: "-matload_block_size N"; 0
/// where there is no such file, or it says nothing. Rank 0 reads. Collective.
/// Source: MatView_Binary_BlockSizes in PETSc's src/mat/interface/matrix.c.
GlobalIndex collective_petsc_block_size(const comm_thread::Communicator& communicator,
                                        const std::string& path);

}  // namespace weft::spmv
