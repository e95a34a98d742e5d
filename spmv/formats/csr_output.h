#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "spmv/arrays/shared_output.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// This rank's part of a matrix as it stands in a file in compressed row storage.
struct CsrPart {
  const DistributedMatrix& matrix;
  std::int64_t first_nonzero = 0;  // of this rank among those of all

  /// Collective.
  static CsrPart collective_of(const comm_thread::Communicator& communicator,
                               const DistributedMatrix& matrix);

  std::int64_t row_count() const { return matrix.rows.row_count; }
  std::int64_t nonzero_count() const { return matrix.rows.nonzero_count(); }

  std::int64_t row_length(std::int64_t row) const {
    const auto& offsets = matrix.rows.row_offsets;
    const auto i = static_cast<std::size_t>(row);
    return offsets[i + 1] - offsets[i];
  }
  std::int64_t row_offset(std::int64_t row) const {
    return first_nonzero + matrix.rows.row_offsets[static_cast<std::size_t>(row)];
  }
  std::int64_t column(std::int64_t k) const {
    return matrix.global_column(matrix.rows.columns[static_cast<std::size_t>(k)]);
  }
  double value(std::int64_t k) const { return matrix.rows.values[static_cast<std::size_t>(k)]; }
};

/// Appends the bytes of `value`, turned around where `is_big_endian`.
template <class Value>
void append_bytes(std::vector<std::byte>& bytes, Value value, bool is_big_endian) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&value);
  if (is_big_endian)
    for (std::size_t i = sizeof(Value); i > 0; --i) bytes.push_back(begin[i - 1]);
  else
    bytes.insert(bytes.end(), begin, begin + sizeof(Value));
}

/// Takes the bytes of items [0, count) in pieces of about a megabyte, in order.
/// `append(item, bytes)`: appends those of one item. `take(bytes)`: gets a piece.
void in_pieces(std::int64_t count,
               const std::function<void(std::int64_t, std::vector<std::byte>&)>& append,
               const std::function<void(std::span<const std::byte>)>& take);

/// Writes the bytes of items [0, count) from byte `offset` of the file on. `append`: as above.
/// Throws comm_thread::InputError where that cannot be done.
void write_items(SharedOutput& output, std::int64_t offset, std::int64_t count,
                 const std::function<void(std::int64_t, std::vector<std::byte>&)>& append);

}  // namespace weft::spmv
