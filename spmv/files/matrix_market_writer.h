#pragma once

#include <string>

#include "comm_thread/mpi/communicator.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// Writes the matrix as Matrix Market "coordinate real general", rows and columns ascending, values
/// so that reading them back gives the same bits; gzip-compressed if `path` ends in ".gz".
///
/// The bytes are the same for any number of ranks; nothing half-written stays behind.
/// `comment`: one line without line end, or none.
/// Collective. Throws comm_thread::InputError when the file cannot be written.
void collective_write_matrix_market(const comm_thread::Communicator& communicator,
                                    const DistributedMatrix& matrix, const std::string& path,
                                    const std::string& comment = "");

}  // namespace weft::spmv
