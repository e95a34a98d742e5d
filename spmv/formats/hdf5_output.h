#pragma once

#include <span>
#include <string>

#include "comm_thread/mpi/communicator.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// Written as hdf5_file.h reads them. Thread: the main thread.

/// A new file, with indices of 32 bits where all fit. Collective. Throws comm_thread::InputError.
void collective_write_hdf5_matrix(const comm_thread::Communicator& communicator,
                                  const DistributedMatrix& matrix, const std::string& path);

/// `own`: [partition.size(rank)]. Collective. Throws comm_thread::InputError.
void collective_write_hdf5_vector(const comm_thread::Communicator& communicator,
                                  const RowPartition& partition, std::span<const double> own,
                                  const std::string& path);

}  // namespace weft::spmv
