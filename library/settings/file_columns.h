#pragma once

#include <string>

#include "spmv/formats/matrix_file.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::library {

/// This rank's rows of the vectors in a file, one a column: 1 to `most`, of as many rows as the
/// matrix has. `option`: what names the file. Collective. Throws comm_thread::InputError.
spmv::FileColumns collective_read_columns(const spmv::SparseOperator& op, const std::string& option,
                                          const std::string& path, int most);

}  // namespace weft::library
