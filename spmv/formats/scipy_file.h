#pragma once

#include <string>

#include "comm_thread/mpi/communicator.h"
#include "spmv/formats/csr_source.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// Matrices as scipy.sparse.save_npz writes them (.npz): a zip archive of NumPy arrays, compressed
/// or stored, with `format` "csr" or "csc", `shape`, `indptr`, `indices` and `data`, or with
/// `format` "coo", `shape`, `row`, `col` and `data`. Written as "csr".
///
/// Ranks read a stored archive in parallel; a compressed one is inflated by every rank, up to its
/// own rows.

/// Throws comm_thread::InputError where the file holds no square matrix in this format.
CsrSource open_scipy_matrix(const std::string& path);

/// Stored, not compressed. Collective. Throws comm_thread::InputError.
void collective_write_scipy_matrix(const comm_thread::Communicator& communicator,
                                   const DistributedMatrix& matrix, const std::string& path);

}  // namespace weft::spmv
