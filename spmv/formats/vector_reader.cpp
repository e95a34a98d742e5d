#include "spmv/formats/vector_reader.h"

#include <cstddef>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "perfmodel/huge_page_buffer.h"

namespace weft::spmv {

std::vector<double> collective_read_vector(const comm_thread::Communicator& communicator,
                                           const RowPartition& partition, const std::string& path,
                                           const std::function<NumberArray()>& open) {
  std::vector<double> own;
  comm_thread::collective_attempt(communicator, [&] {
    const NumberArray values = open();
    if (values.count != partition.row_count())
      throw comm_thread::InputError(path + ": found a vector of length " +
                                    std::to_string(values.count) + "; expected length " +
                                    std::to_string(partition.row_count()));
    const auto count = static_cast<std::size_t>(partition.size(communicator.rank()));
    own.reserve(count);
    perfmodel::prefer_huge_pages(own.data(), own.data() + count);
    own.resize(count);
    values.read(partition.begin(communicator.rank()), own, "vector");
  });
  return own;
}

}  // namespace weft::spmv
