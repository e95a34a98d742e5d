#pragma once

#include <span>
#include <string>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// Reads a vector from a Matrix Market file, plain or gzip-compressed, and returns the entries of
/// this rank's rows. It is an array or sparse, one column or one row.
///
/// Collective. Memory: own rows and a few MB. Throws comm_thread::InputError, the same on every
/// rank: "FILE:LINE: found X; expected Y".
std::vector<double> collective_read_vector(const comm_thread::Communicator& communicator,
                                           const RowPartition& partition, const std::string& path);

/// Rows and columns of an array.
struct ArraySize {
  GlobalIndex row_count = 0;
  GlobalIndex column_count = 0;
};

/// The size of the array in a Matrix Market file ("array real general"). Collective. Throws
/// comm_thread::InputError on every rank.
ArraySize collective_array_size(const comm_thread::Communicator& communicator,
                                const std::string& path);

/// Reads this rank's rows of an array as above, whose columns follow one another in the file.
/// `partition`: of its rows. Returns [own rows][columns].
/// Collective. Memory: own rows and a few MB. Throws comm_thread::InputError on every rank.
std::vector<double> collective_read_array(const comm_thread::Communicator& communicator,
                                          const RowPartition& partition, const std::string& path);

/// Writes a vector as Matrix Market "array real general", one value per line, so that reading it
/// back gives the same bits; gzip-compressed if `path` ends in ".gz".
///
/// The bytes are the same for any number of ranks; nothing half-written stays behind.
/// `own`: [partition.size(rank)].
/// Collective. Throws comm_thread::InputError when the file cannot be written.
void collective_write_vector(const comm_thread::Communicator& communicator,
                             const RowPartition& partition, std::span<const double> own,
                             const std::string& path);

}  // namespace weft::spmv
