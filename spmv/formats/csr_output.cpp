#include "spmv/formats/csr_output.h"

namespace weft::spmv {

CsrPart CsrPart::collective_of(const comm_thread::Communicator& communicator,
                               const DistributedMatrix& matrix) {
  return {matrix, communicator.exclusive_prefix_sum(matrix.rows.nonzero_count())};
}

void in_pieces(std::int64_t count,
               const std::function<void(std::int64_t, std::vector<std::byte>&)>& append,
               const std::function<void(std::span<const std::byte>)>& take) {
  constexpr std::size_t piece_bytes = 1 << 20;
  std::vector<std::byte> bytes;
  for (std::int64_t item = 0; item < count;) {
    bytes.clear();
    while (item < count && bytes.size() < piece_bytes) append(item++, bytes);
    take(bytes);
  }
}

void write_items(SharedOutput& output, std::int64_t offset, std::int64_t count,
                 const std::function<void(std::int64_t, std::vector<std::byte>&)>& append) {
  in_pieces(count, append, [&](std::span<const std::byte> bytes) {
    output.write(offset, bytes);
    offset += std::ssize(bytes);
  });
}

}  // namespace weft::spmv
