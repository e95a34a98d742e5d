#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "spmv/formats/number_array.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// The entries of this rank's rows of the vector that `open` finds in the file `path`.
/// Collective. Throws comm_thread::InputError on every rank.
std::vector<double> collective_read_vector(const comm_thread::Communicator& communicator,
                                           const RowPartition& partition, const std::string& path,
                                           const std::function<NumberArray()>& open);

}  // namespace weft::spmv
