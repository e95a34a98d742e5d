#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "comm_thread/mpi/communicator.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/arrays/number_array.h"
#include "spmv/files/remarks.h"
#include "spmv/rows/entry_sample.h"
#include "spmv/rows/index.h"

namespace weft::spmv {

/// A square matrix in compressed row storage in a file, or by columns, or as single entries; or a
/// sparse vector, or several, as such a matrix that need not be square (`column_count`).
///
///     layout   rows                                        columns               values
///     rows     row lengths [row_count] or, `has_offsets`,
///              where each row begins [row_count + 1]       column of each nonzero of each
///     columns  where each column begins [column_count + 1] row of each nonzero    of each
///     entries  row of each nonzero                         column of each nonzero of each
struct CsrSource {
  enum class Layout { rows, columns, entries };

  Layout layout = Layout::rows;
  GlobalIndex row_count = 0;
  GlobalIndex column_count = 0;  // where it need not be square; of no use else
  std::int64_t nonzero_count = 0;
  bool has_offsets = false;
  NumberArray rows{};
  NumberArray columns{};  // [nonzero_count]
  NumberArray values{};  // [nonzero_count]
  Remarks remarks{};  // for whoever reads it

  const std::string& name() const { return columns.source->name(); }
  bool is_parallel() const {
    return rows.source->is_parallel() && columns.source->is_parallel() &&
           values.source->is_parallel();
  }

  /// Throws comm_thread::InputError with the name of the file.
  [[noreturn]] void fail(const std::string& complaint) const;
  /// Throw comm_thread::InputError where the matrix is empty, too large for so many ranks or for
  /// its file, or has no such row or column as the one that stands at `place` of its array.
  void check_sizes(int rank_count) const;
  void check_row(std::int64_t row, std::int64_t place) const { check_number(row, "row", place); }
  void check_column(std::int64_t column, std::int64_t place) const {
    check_number(column, "column", place);
  }

 private:
  void check_number(std::int64_t number, const char* what, std::int64_t place) const {
    if (number < 0 || number >= row_count) fail_of(number, what, place);
  }
  [[noreturn]] void fail_of(std::int64_t number, const char* what, std::int64_t place) const;
};

/// Runs `work` on every rank. Throws comm_thread::InputError, the same on every rank, where it
/// throws on one, or has no memory there. Collective.
void collective_attempt_to_store(const comm_thread::Communicator& communicator,
                                 const CsrSource& source, const std::function<void()>& work);

/// Compares the checksums of the arrays of `source`, where it has some, with those of the numbers
/// that all ranks have counted (NumberArray::begin_sum). Collective. Throws
/// comm_thread::InputError, the same on every rank.
void collective_compare_checksums(const comm_thread::Communicator& communicator,
                                  const CsrSource& source);

/// Entries of some rows all over the matrix, or of its first ones, or, where they lie in no order
/// or are compressed, of none. Throws comm_thread::InputError.
EntrySample sample_entries(const CsrSource& source);

/// True if the neighbours of the neighbours of a row are nearly all different, as in a random
/// graph; on grids and meshes many are the same. Looks at some rows. False where rows cannot be
/// read in any order. Throws comm_thread::InputError.
bool has_random_couplings(const CsrSource& source);

/// Where the rows [begin, end) begin among their nonzeros: [end - begin + 1]. In the file
/// `nonzeros_before` others come first.
struct RowOffsets {
  perfmodel::HugePageBuffer<std::int64_t> at;
  std::int64_t nonzeros_before = 0;
};

/// The offsets of the rows [begin, end), or of the columns where the layout is by columns; ranks
/// have consecutive ones. Collective. Throws comm_thread::InputError, the same on every rank, where
/// offsets do not ascend within the nonzeros.
RowOffsets collective_read_offsets(const comm_thread::Communicator& communicator,
                                   const CsrSource& source, GlobalIndex begin, GlobalIndex end);

}  // namespace weft::spmv
