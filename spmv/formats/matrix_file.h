#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/files/matrix_market_header.h"
#include "spmv/files/remarks.h"
#include "spmv/names/file_format.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/index.h"
#include "spmv/rows/partition.h"
#include "spmv/rows/partition_by.h"

namespace weft::spmv {

/// The file alone, without the name or the number of what is in it.
std::string file_of(const std::string& path);
/// Throw comm_thread::InputError, with the endings that there are, where a file of this name cannot
/// hold a matrix or a vector. Not collective: before any work.
void check_matrix_file(const std::string& path);
void check_vector_file(const std::string& path);
/// Throw it where such a file is not written, too, or is named as a part of one that is read.
void check_matrix_output(const std::string& path);
void check_vector_output(const std::string& path);

/// Throw comm_thread::InputError where a file of this name, or a name in it, cannot be written,
/// before hours of work; what is there stays as it is. Collective.
void collective_check_matrix_output(const comm_thread::Communicator& communicator,
                                    const std::string& path);
void collective_check_vector_output(const comm_thread::Communicator& communicator,
                                    const std::string& path);

/// Size of a matrix as its file announces it, and what a sample of its entries says.
struct MatrixFileSize {
  GlobalIndex row_count = 0;
  std::int64_t nonzero_count = 0;  // at most
  bool has_varying_rows = true;
  GlobalIndex reach = 0;  // largest distance between row and column; or more
  bool is_random = false;  // as has_random_couplings
};
/// `base`: of entries as text; found with another format it is wrong. Collective. Throws
/// comm_thread::InputError.
MatrixFileSize collective_matrix_file_size(const comm_thread::Communicator& communicator,
                                           const std::string& path,
                                           IndexBase base = IndexBase::found);

/// What a file holds: a matrix or, with as many rows, a vector.
struct FileContents {
  bool is_matrix = false;
  GlobalIndex row_count = 0;
};
/// Reads the header. Collective. Throws comm_thread::InputError.
FileContents collective_look_into(const comm_thread::Communicator& communicator,
                                  const std::string& path, IndexBase base = IndexBase::found);

/// The rows of this rank. Collective. Throws comm_thread::InputError, the same on every rank.
/// `remarks`: gets what was dropped, decided or left unread.
DistributedMatrix collective_read_matrix_file(const comm_thread::Communicator& communicator,
                                              const comm_thread::ComputeTeam& team,
                                              const std::string& path, PartitionBy partition,
                                              Remarks& remarks, IndexBase base = IndexBase::found);
DistributedMatrix collective_read_matrix_file(const comm_thread::Communicator& communicator,
                                              const comm_thread::ComputeTeam& team,
                                              const std::string& path, PartitionBy partition);

/// The entries of this rank's rows. Collective. Throws comm_thread::InputError on every rank.
/// `remarks`: as above.
std::vector<double> collective_read_vector_file(const comm_thread::Communicator& communicator,
                                                const RowPartition& partition,
                                                const std::string& path, Remarks& remarks);
std::vector<double> collective_read_vector_file(const comm_thread::Communicator& communicator,
                                                const RowPartition& partition,
                                                const std::string& path);

/// All ranks write one file, which appears complete or not at all; its bytes do not depend on the
/// ranks. `comment`: for formats that have room for one. Collective. Throws
/// comm_thread::InputError.
void collective_write_matrix_file(const comm_thread::Communicator& communicator,
                                  const DistributedMatrix& matrix, const std::string& path,
                                  const std::string& comment = "");

/// The same for a vector. `own`: [partition.size(rank)].
void collective_write_vector_file(const comm_thread::Communicator& communicator,
                                  const RowPartition& partition, std::span<const double> own,
                                  const std::string& path);

}  // namespace weft::spmv
