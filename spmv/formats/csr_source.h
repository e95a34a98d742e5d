#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "spmv/formats/number_array.h"
#include "spmv/rows/index.h"

namespace weft::spmv {

/// A square matrix in compressed row storage in a file.
///
/// `rows` are the row lengths [row_count] or, `has_offsets`, where each row begins [row_count + 1].
struct CsrSource {
  GlobalIndex row_count = 0;
  std::int64_t nonzero_count = 0;
  bool has_offsets = false;
  NumberArray rows{};
  NumberArray columns{};  // [nonzero_count]
  NumberArray values{};  // [nonzero_count]

  const std::string& name() const { return columns.source->name(); }
  bool is_parallel() const {
    return rows.source->is_parallel() && columns.source->is_parallel() &&
           values.source->is_parallel();
  }
};

}  // namespace weft::spmv
