#include "spmv/files/matrix_market_writer.h"

#include <cstddef>

#include "spmv/files/matrix_market_output.h"
#include "spmv/files/number_text.h"

namespace weft::spmv {

void collective_write_matrix_market(const comm_thread::Communicator& communicator,
                                    const DistributedMatrix& matrix, const std::string& path,
                                    const std::string& comment) {
  const std::string rows = std::to_string(matrix.partition.row_count());
  TextItems items;
  items.header = "%%MatrixMarket matrix coordinate real general\n";
  if (!comment.empty()) items.header += "% " + comment + '\n';
  items.header += rows + ' ' + rows + ' ' + std::to_string(matrix.global_nonzero_count) + '\n';
  items.count = matrix.rows.nonzero_count();
  items.append = [&matrix, row = std::size_t{0}](std::int64_t item, std::string& text) mutable {
    const auto& offsets = matrix.rows.row_offsets;
    if (item == 0) row = 0;
    while (offsets[row + 1] <= item) ++row;
    const auto k = static_cast<std::size_t>(item);
    append_number(text, matrix.first_row() + static_cast<GlobalIndex>(row) + 1);
    text += ' ';
    append_number(text, matrix.global_column(matrix.rows.columns[k]) + 1);
    text += ' ';
    append_number(text, matrix.rows.values[k]);
    text += '\n';
  };
  collective_write_text(communicator, path, items);
}

}  // namespace weft::spmv
