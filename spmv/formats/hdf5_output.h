#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "comm_thread/mpi/communicator.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// Written as hdf5_file.h reads them. In a file that is there already, the name, which is "matrix"
/// or "vector" where none is given, is added or replaced in a copy of it, which then takes its
/// place: all else stays, attributes of what is replaced included. A file that holds nothing else
/// and is named without a name is written anew. Thread: the main thread.

/// Throws comm_thread::InputError where what is in the file is in the way of such an output.
void check_hdf5_output(const std::string& path, bool is_matrix);

/// With indices of 32 bits where all fit. Collective. Throws comm_thread::InputError.
void collective_write_hdf5_matrix(const comm_thread::Communicator& communicator,
                                  const DistributedMatrix& matrix, const std::string& path);

/// `count` columns, or one vector as a dataset of one dimension. `own`:
/// [partition.size(rank)][count]. Collective. Throws comm_thread::InputError.
void collective_write_hdf5_columns(const comm_thread::Communicator& communicator,
                                   const RowPartition& partition, std::span<const double> own,
                                   std::int64_t count, const std::string& path);

}  // namespace weft::spmv
