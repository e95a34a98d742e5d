#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "spmv/arrays/number_array.h"
#include "spmv/formats/vector_reader.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// NumPy's arrays (.npy, versions 1 to 3 of the format): numbers of 1 to 8 bytes, truth values, and
/// complex numbers, either byte order. Source: numpy.lib.format.

/// The numbers of a whole .npy in `source`. Throws comm_thread::InputError.
ShapedArray open_shaped_array(std::shared_ptr<ByteSource> source);

/// The numbers of a whole .npy in `source`, however many dimensions it has, of which at most one is
/// longer than 1. Throws comm_thread::InputError.
NumberArray open_numpy_array(std::shared_ptr<ByteSource> source);

/// The text of a .npy that holds text ("csr"). Throws comm_thread::InputError.
std::string read_numpy_text(ByteSource& source);

/// The bytes before the numbers of an array; `type`: such as "<f8". A multiple of 64 bytes.
std::string numpy_header(const std::string& type, const std::string& shape);

/// Throws comm_thread::InputError where the file holds no array of numbers.
VectorSource open_numpy_vector(const std::string& path);

/// `count` columns, or one vector as an array of one dimension. `own`:
/// [partition.size(rank)][count]. Collective. Throws comm_thread::InputError.
void collective_write_numpy_columns(const comm_thread::Communicator& communicator,
                                    const RowPartition& partition, std::span<const double> own,
                                    std::int64_t count, const std::string& path);

}  // namespace weft::spmv
