#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "spmv/arrays/number_array.h"
#include "spmv/files/matrix_market_vector.h"
#include "spmv/files/remarks.h"
#include "spmv/formats/csr_source.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// What a binary file holds where vectors are expected: numbers in dimensions, or a sparse matrix
/// of any shape.
struct VectorSource {
  ShapedArray array{};
  std::optional<CsrSource> sparse{};
  bool may_be_flat = false;  // numbers in several dimensions may follow one another as one vector
  Remarks remarks{};

  std::vector<std::int64_t> sizes() const;
};

/// How many vectors of length `row_count` a source has, at most `most`. Throws
/// comm_thread::InputError with "PATH: " and what was found.
std::int64_t columns_of(const VectorSource& source, const std::string& path, GlobalIndex row_count,
                        std::int64_t most);

/// The entries of this rank's rows of the vectors that `open` finds in the file `path`, at most
/// `most`. Collective. Throws comm_thread::InputError on every rank.
FileColumns collective_read_columns(const comm_thread::Communicator& communicator,
                                    const RowPartition& partition, const std::string& path,
                                    std::int64_t most, const std::function<VectorSource()>& open,
                                    Remarks& remarks);

}  // namespace weft::spmv
