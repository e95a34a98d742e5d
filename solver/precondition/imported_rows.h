#pragma once

#include <cstddef>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "solver/direct/local_matrix.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::solver {

/// Some rows of a matrix, and those around them that an algebraic overlap adds.
///
///     6×6 tridiagonal, core {2, 3}, overlap 1      rows = {1, 2, 3, 4}
struct OverlappingRows {
  int number = 0;  // of the piece, of all
  std::vector<spmv::GlobalIndex> core{};  // ascending, without the overlap
  std::vector<spmv::GlobalIndex> rows{};  // ascending, with the overlap
  /// Couplings of each row that end outside, in the core that has the row: Σ|a_ij| over such j.
  std::vector<double> cut{};
};

/// Rows of a matrix as a rank has them, columns ascending.
struct WholeRows {
  std::vector<std::size_t> row_begin{0};  // [rows + 1]
  std::vector<spmv::GlobalIndex> columns{};
  std::vector<double> values{};
};

/// Grows each of this rank's pieces by `overlap` layers of the graph of the matrix, and returns
/// their matrices: rows and columns of A that are in the piece, numbered as in `rows`. `rows` and
/// `cut` are filled.
///
/// Where `whole` is given, it gets the same rows with all their columns, piece by piece.
/// Rows of other ranks are fetched from their owners, layer by layer.
/// Collective. Talks to those concerned only.
std::vector<LocalMatrix> collective_import_rows(const comm_thread::Communicator& communicator,
                                                const spmv::DistributedMatrix& matrix, int overlap,
                                                std::vector<OverlappingRows>& pieces,
                                                std::vector<WholeRows>* whole = nullptr);

}  // namespace weft::solver
