#pragma once

namespace weft::spmv {

/// What a row partition makes equal: the rows of every rank, or their nonzeros.
enum class PartitionBy { rows, nonzeros };

}  // namespace weft::spmv
