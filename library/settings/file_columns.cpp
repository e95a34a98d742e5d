#include "library/settings/file_columns.h"

#include <cstddef>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "spmv/files/matrix_market_vector.h"
#include "spmv/files/remarks.h"
#include "spmv/names/file_format.h"

namespace weft::library {

spmv::FileColumns collective_read_columns(const spmv::SparseOperator& op, const std::string& option,
                                          const std::string& path, int most) {
  const spmv::RowPartition& rows = op.matrix().matrix().partition;
  // Of these the first line says the size.
  if (spmv::format_of(path) != spmv::FileFormat::matrix_market) {
    spmv::Remarks remarks;
    return spmv::collective_read_columns_file(op.communicator(), rows, path, most, remarks);
  }
  const spmv::ArraySize size = spmv::collective_array_size(op.communicator(), path);
  if (size.row_count != rows.row_count() || size.column_count < 1 || size.column_count > most)
    throw comm_thread::InputError(
        fmt::format("{}: found {} rows and {} columns; expected {} rows and 1 to {} columns",
                    comm_thread::option_name(option, path), size.row_count, size.column_count,
                    rows.row_count(), most));
  return {.count = size.column_count,
          .own = spmv::collective_read_array(op.communicator(), rows, path)};
}

}  // namespace weft::library
