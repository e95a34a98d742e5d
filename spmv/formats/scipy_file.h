#pragma once

#include <string>

#include "comm_thread/mpi/communicator.h"
#include "spmv/formats/csr_source.h"
#include "spmv/formats/vector_reader.h"
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

/// True if the file holds a square matrix, which is no vector. Throws comm_thread::InputError.
bool holds_scipy_matrix(const std::string& path);

/// A sparse matrix of any shape, an array of one dimension as one column; or the only array that
/// numpy.savez has put into an archive. Throws comm_thread::InputError where the file holds
/// neither.
VectorSource open_scipy_vector(const std::string& path);

/// Stored, not compressed. Collective. Throws comm_thread::InputError.
void collective_write_scipy_matrix(const comm_thread::Communicator& communicator,
                                   const DistributedMatrix& matrix, const std::string& path);

}  // namespace weft::spmv
