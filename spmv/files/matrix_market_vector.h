#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "spmv/files/remarks.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// Vectors of one length, the columns of a file.
struct FileColumns {
  std::int64_t count = 1;
  std::vector<double> own{};  // [own rows][count]
};
constexpr std::int64_t any_number_of_columns = std::numeric_limits<std::int64_t>::max();

/// How many vectors of length `row_count` numbers in some dimensions are: those of one dimension,
/// column or row are one; those of two dimensions have vectors as columns.
struct ColumnCount {
  std::int64_t count = 0;
  std::string fault{};  // "found X; expected Y" where they are none, or more than `most`
};
ColumnCount columns_of(std::span<const std::int64_t> sizes, GlobalIndex row_count,
                       std::int64_t most);
/// The same of sparse vectors. As many as rows are taken for a matrix, named by mistake.
ColumnCount sparse_columns_of(std::span<const std::int64_t> sizes, GlobalIndex row_count,
                              std::int64_t most);

/// Reads vectors from a Matrix Market file, plain or gzip-compressed, or from a text of numbers,
/// and returns the entries of this rank's rows. They are an array or sparse, columns or one row.
/// `most`: columns that there may be; `remarks`: gets what was decided.
///
/// Collective. Memory: own rows and a few MB. Throws comm_thread::InputError, the same on every
/// rank: "FILE:LINE: found X; expected Y".
FileColumns collective_read_columns(const comm_thread::Communicator& communicator,
                                    const RowPartition& partition, const std::string& path,
                                    std::int64_t most, Remarks& remarks);

/// How many vectors there are for a system of `row_count()` rows, which is asked for only where it
/// matters. Reads the header. Collective. Throws comm_thread::InputError on every rank.
std::int64_t collective_count_text_columns(const comm_thread::Communicator& communicator,
                                           const std::string& path,
                                           const std::function<GlobalIndex()>& row_count);

/// Rows and columns of an array.
struct ArraySize {
  GlobalIndex row_count = 0;
  GlobalIndex column_count = 0;
};

/// The size of the array in a Matrix Market file ("array real general"). Collective. Throws
/// comm_thread::InputError on every rank.
ArraySize collective_array_size(const comm_thread::Communicator& communicator,
                                const std::string& path);

/// Reads this rank's rows of an array as above, whose columns follow one another in the file.
/// `partition`: of its rows. Returns [own rows][columns].
/// Collective. Memory: own rows and a few MB. Throws comm_thread::InputError on every rank.
std::vector<double> collective_read_array(const comm_thread::Communicator& communicator,
                                          const RowPartition& partition, const std::string& path);

/// Writes vectors as the columns of a Matrix Market "array real general", one value per line, so
/// that reading it back gives the same bits; gzip-compressed if `path` ends in ".gz".
///
/// The bytes are the same for any number of ranks; nothing half-written stays behind.
/// `own`: [partition.size(rank)][count].
/// Collective. Throws comm_thread::InputError when the file cannot be written.
void collective_write_columns(const comm_thread::Communicator& communicator,
                              const RowPartition& partition, std::span<const double> own,
                              std::int64_t count, const std::string& path);

}  // namespace weft::spmv
