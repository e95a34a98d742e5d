#pragma once

#include <cstdint>
#include <string>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/files/matrix_market_header.h"
#include "spmv/files/remarks.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/index.h"
#include "spmv/rows/partition_by.h"

namespace weft::spmv {

/// Size of a matrix as the header of its file announces it.
struct MatrixMarketSize {
  GlobalIndex row_count = 0;
  std::int64_t nonzero_count = 0;  // with the other half of a symmetric matrix, at most
  bool has_varying_rows = true;  // as far as the first entries say
  GlobalIndex reach = 0;
};

/// Reads the header and the first entries. Collective. Throws comm_thread::InputError as the next.
MatrixMarketSize collective_matrix_market_size(const comm_thread::Communicator& communicator,
                                               const std::string& path,
                                               IndexBase base = IndexBase::found);

/// Reads a square sparse matrix from a Matrix Market file, plain or gzip-compressed.
///
/// Every rank parses its part of the file with its team, twice: once to count, once to fill the
/// finished matrix;
/// `PartitionBy::nonzeros` with several ranks takes a third pass before. No rank ever holds more
/// than its rows and a few MB. Real, integer, pattern (ones), and complex where all imaginary parts
/// are 0, which `remarks` gets to know; general, symmetric and skew-symmetric (the other half is
/// added); sparse, or an array, whose zeros off the diagonal are left out; duplicates are added up.
/// Where (i, j) and (j, i) both stand in a symmetric file, they count once if they are equal, which
/// `remarks` gets to know, and are a fault if not. `base`: of entries without a header.
/// Collective. Throws comm_thread::InputError, the
/// same on every rank: "FILE:LINE: found X; expected Y", with the first wrong line.
DistributedMatrix collective_read_matrix_market(const comm_thread::Communicator& communicator,
                                                const comm_thread::ComputeTeam& team,
                                                const std::string& path, PartitionBy partition,
                                                Remarks& remarks,
                                                IndexBase base = IndexBase::found);
DistributedMatrix collective_read_matrix_market(const comm_thread::Communicator& communicator,
                                                const comm_thread::ComputeTeam& team,
                                                const std::string& path, PartitionBy partition);

}  // namespace weft::spmv
