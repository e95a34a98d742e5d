#pragma once

namespace weft::spmv {

/// Criterion of a row partition: equal numbers of rows or of nonzeros per rank.
enum class PartitionBy { rows, nonzeros };

}  // namespace weft::spmv
