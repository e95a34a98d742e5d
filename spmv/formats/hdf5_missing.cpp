// Replaces hdf5_file.cpp in builds without HDF5.
#include "comm_thread/mpi/input_error.h"
#include "spmv/formats/hdf5_file.h"
#include "spmv/formats/hdf5_output.h"

namespace weft::spmv {
namespace {

[[noreturn]] void refuse(const std::string& path) {
  throw comm_thread::InputError(
      path +
      ": this build has no HDF5; expected a build with -DWEFT_WITH_HDF5=ON, or another format");
}

}  // namespace

std::string hdf5_version() { return "missing"; }

bool holds_hdf5_matrix(const std::string& path) { refuse(path); }
std::int64_t hdf5_vector_length(const std::string& path) { refuse(path); }
CsrSource open_hdf5_matrix(const std::string& path) { refuse(path); }

VectorSource open_hdf5_vector(const std::string& path) { refuse(path); }

void check_hdf5_output(const std::string& path, bool) { refuse(path); }

void collective_write_hdf5_matrix(const comm_thread::Communicator&, const DistributedMatrix&,
                                  const std::string& path) {
  refuse(path);
}

void collective_write_hdf5_columns(const comm_thread::Communicator&, const RowPartition&,
                                   std::span<const double>, std::int64_t, const std::string& path) {
  refuse(path);
}

}  // namespace weft::spmv
