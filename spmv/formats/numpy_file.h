#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "spmv/files/remarks.h"
#include "spmv/formats/number_array.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// NumPy's arrays (.npy, versions 1 to 3 of the format): numbers of 1 to 8 bytes, truth values, and
/// complex numbers, either byte order. Source: numpy.lib.format.

/// An array of any dimensions.
struct ShapedArray {
  NumberArray numbers;
  std::vector<std::int64_t> shape{};
  bool is_by_columns = false;  // the first index varies fastest
};
/// The numbers of a whole .npy in `source`. Throws comm_thread::InputError.
ShapedArray open_shaped_array(std::shared_ptr<ByteSource> source);

/// The numbers of a whole .npy in `source`, however many dimensions it has, of which at most one is
/// longer than 1. Throws comm_thread::InputError.
NumberArray open_numpy_array(std::shared_ptr<ByteSource> source);

/// The text of a .npy that holds text ("csr"). Throws comm_thread::InputError.
std::string read_numpy_text(ByteSource& source);

/// The bytes before the numbers of an array; `type`: such as "<f8". A multiple of 64 bytes.
std::string numpy_header(const std::string& type, const std::string& shape);

/// The entries of this rank's rows. Collective. Throws comm_thread::InputError on every rank.
std::vector<double> collective_read_numpy_vector(const comm_thread::Communicator& communicator,
                                                 const RowPartition& partition,
                                                 const std::string& path, Remarks& remarks);

/// `own`: [partition.size(rank)]. Collective. Throws comm_thread::InputError.
void collective_write_numpy_vector(const comm_thread::Communicator& communicator,
                                   const RowPartition& partition, std::span<const double> own,
                                   const std::string& path);

}  // namespace weft::spmv
